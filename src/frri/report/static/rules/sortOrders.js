/** What the rules can be ordered by. */

import { roleOf } from "../model/contributions.js";
import { ownSeries } from "../charts/chart.js";
import { addsNumbers, predictsNumbers, saidNumber } from "../model/regression.js";
import { coverageOf } from "../model/store.js";
import { addsVotes } from "../model/votes.js";
import { weightName } from "../core/format.js";

/**
 * Orders of the rules that do not belong to an attribute.
 *
 * @param {object} store
 * @returns {Array<{key: string, name: string, of: function(object): ?number, title?: string, help?: string,
 *   down?: boolean}>}
 */
export function ordersOf(store) {
  const { facts } = store;
  const { model } = facts;
  const role = roleOf(model);
  const decides = (entry) => store.state.decides?.get(entry.number);
  const orders = [
    { key: "number", title: "Rule", name: "number", of: (entry) => entry.number },
    thenOrder(store),
    {
      key: "decides",
      title: role.title,
      name: `rows ${role.past}`,
      help: role.help,
      of: (entry) => decides(entry)?.rows ?? null,
      down: true,
    },
    {
      key: "right",
      title: "Right",
      name: "share right",
      help: `How many of the rows that it ${role.verb} are decided rightly, with a 95 % interval`,
      of: (entry) => {
        const { rows, right } = decides(entry) ?? { rows: 0 };
        return rows && right !== null ? right / rows : null;
      },
      down: true,
    },
    {
      key: "coverage",
      title: "Covers",
      name: "coverage",
      help: "Share of the rows that it covers",
      of: (entry) => coverageOf(entry, store),
      down: true,
    },
    {
      key: "precision",
      title: "Precision",
      name: "precision",
      help: "Share of the covered rows that are of its class",
      of: (entry) => entry.known.precision,
      down: true,
    },
    {
      key: "confidence",
      title: weightName(model),
      name: weightName(model).toLowerCase(),
      help: "What a full match counts",
      of: (entry) => entry.rule.weight,
      down: true,
    },
    { key: "length", name: "length", of: (entry) => entry.rule.if.length },
    {
      key: "returns",
      title: "Returns",
      name: "how often it returns",
      help: `Share of ${facts.stability?.n_resamples} resamples of the rows that give about the same rule`,
      of: (entry) => entry.known.returns ?? null,
      down: true,
    },
    { key: "lift", name: "lift", of: (entry) => entry.known.lift, down: true },
  ];
  const hidden = store.state.decides ? [] : ["decides", "right"];
  if (predictsNumbers(model)) hidden.push("right", "precision", "lift");
  if (addsNumbers(model)) hidden.push("confidence");
  if (!facts.stability) hidden.push("returns");
  return orders.filter(({ key }) => !hidden.includes(key));
}

/** By class; by number, those that say most first: contributions whichever way they go. */
function thenOrder({ facts }) {
  const { model } = facts;
  const title = addsVotes(model) ? "Votes for" : "Then";
  const order = { key: "then", title, name: "class", of: ({ rule }) => ownSeries(facts, rule) };
  if (!predictsNumbers(model)) return order;
  const said = ({ rule }) => saidNumber(model, rule);
  if (!addsNumbers(model))
    return { ...order, name: "number", help: "The number that it says", of: said, down: true };
  return {
    ...order,
    title: "Adds",
    name: "size of the contribution",
    help: "What a full match adds to the base; ordered by size, up or down",
    of: (entry) => Math.abs(said(entry)),
    down: true,
  };
}

/**
 * Entries in an order. Unknown values come last, whichever way the others run; equals stay in the model's order.
 *
 * @param {object[]} entries
 * @param {{sort: object, descending: boolean}} view
 * @returns {object[]}
 */
export function sorted(entries, { sort, descending }) {
  const keyed = entries.map((entry) => [sort.of(entry), entry]);
  const direction = descending ? -1 : 1;
  keyed.sort(([a], [b]) => {
    const [noA, noB] = [a ?? null, b ?? null].map((value) => value === null);
    if (noA || noB) return Number(noA) - Number(noB);
    return direction * (a - b);
  });
  return keyed.map(([, entry]) => entry);
}

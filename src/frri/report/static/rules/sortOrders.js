/** What the rules can be ordered by. */

import { isolate } from "../core/dom.js";
import { kindOf, ownSeries, saidNumber, strengthOf } from "../model/kind.js";
import { coverageOf } from "../model/store.js";

/**
 * @param {object} store
 * @returns {Array<{key: string, name: string, of: function(object): ?number, title?: string, help?: string,
 *   down?: boolean}>}
 */
export function ordersOf(store) {
  const { facts, state } = store;
  const { model } = facts;
  const { isAlone, isNumber, adds, addsVotes } = kindOf(model);
  const decides = (entry) => store.state.decides?.get(entry.number);
  const orders = [
    { key: "number", title: "Rule", name: "number", of: (entry) => entry.number },
    {
      key: "then",
      title: addsVotes ? "Votes" : adds ? `Adds to ${isolate(model.target)}` : "Then",
      name: isNumber ? "number" : "class",
      of: ({ rule }) => (isNumber ? saidNumber(model, rule) : ownSeries(facts, rule)),
      down: isNumber,
    },
    state.decides && {
      key: "decides",
      title: "Decides",
      name: "rows decided",
      help: "Rows that it decides, of all that it covers",
      of: (entry) => decides(entry)?.rows ?? null,
      down: true,
    },
    state.decides && {
      key: "right",
      title: facts.overview.is_training ? "Correct (training rows)" : "Correct",
      name: "fraction correct",
      help: "Fraction of the rows that it decides that are decided correctly, with a 95 % interval",
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
      help: "Fraction of the rows for which its conditions hold",
      of: (entry) => coverageOf(entry, store),
      down: true,
    },
    isAlone && {
      key: "precision",
      title: "Precision",
      name: "precision",
      help: "Fraction of the covered rows that are of its class",
      of: (entry) => entry.known.precision,
      down: true,
    },
    {
      key: "strength",
      title: "Weight",
      name: adds ? "size of the contribution" : "weight",
      of: ({ rule }) => strengthOf(model, rule),
      down: true,
    },
    { key: "length", name: "number of conditions", of: (entry) => entry.rule.if.length },
    facts.stability && {
      key: "returns",
      title: "Returns",
      name: "how often it returns",
      help: `Fraction of ${facts.stability.n_resamples} resamples of the rows that give about the same rule`,
      of: (entry) => entry.known.returns ?? null,
      down: true,
    },
  ];
  return orders.filter(Boolean);
}

/**
 * Entries in an order. Unknown values come last, whichever way the others run; equals stay in the model's order.
 *
 * @param {object[]} entries
 * @param {{sort: object, descending: boolean}} view
 * @returns {object[]}
 */
export function sorted(entries, { sort, descending }) {
  return sortedBy(entries, sort.of, descending);
}

/**
 * @template T
 * @param {T[]} items
 * @param {function(T): ?(number|string)} of
 * @param {boolean} descending
 * @returns {T[]}
 */
export function sortedBy(items, of, descending) {
  /** @type {Array<[any, any]>} */
  const keyed = items.map((item) => [of(item) ?? null, item]);
  const direction = descending ? -1 : 1;
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return direction * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  });
  return keyed.map(([, item]) => item);
}

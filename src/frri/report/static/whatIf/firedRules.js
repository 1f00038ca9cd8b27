/** Rules beside a row: how far each condition holds, and those that fail. */

import { ruleLabel, shareBar } from "../charts/chart.js";
import { actionButton, h, muted, sentence, span } from "../core/dom.js";
import { degrees } from "../core/evaluator.js";
import { phrasesOf } from "../model/ruleText.js";
import { attributesByName, counted, missingText, shareText, showValue } from "../core/format.js";

const MOST_RULES = 12;

/**
 * How far each condition of a rule holds, from 0 to 1.
 *
 * @param {object} model
 * @param {object} rule
 * @param {Array} values
 * @returns {number[]}
 */
export function membershipsOf(model, rule, values) {
  const single = rule.if.map((condition) => ({ if: [condition], then: rule.then, weight: 1 }));
  return degrees({ ...model, rules: single }, values);
}

/**
 * A rule with its conditions.
 *
 * @param {object} store
 * @param {object} entry
 * @param {Array} values
 * @param {{text: string, share: ?number, isDeciding: boolean, actions: object}} about
 * @returns {HTMLElement}
 */
function ruleItem(store, entry, values, { text, share, isDeciding, actions }) {
  const { number, rule } = entry;
  const { model } = store.state;
  const attributes = attributesByName(model);
  const memberships = membershipsOf(model, rule, values);
  return h(
    "li",
    { class: isDeciding ? "deciding" : null },
    h(
      "p",
      "fired",
      actionButton(`Rule ${number}`, () => actions.openRule(number), "link"),
      ruleLabel(store, rule),
      share === null ? null : shareBar(share),
      span("number", text),
    ),
    rule.if.length ? null : muted("It has no conditions."),
    h(
      "ul",
      "held",
      phrasesOf(store, entry).map(({ parts, places }) => {
        const attribute = attributes.get(rule.if[places[0]].attribute);
        const held = Math.min(...places.map((k) => memberships[k]));
        return h("li", {}, span("name", sentence(parts)), howFar(held, model, attribute, values));
      }),
    ),
  );
}

/**
 * The first of the rules that fire, and how many more there are.
 *
 * @param {object} store
 * @param {number[]} fired positions, in the order in which they are listed
 * @param {Array} values
 * @param {{held?: ?number[], text: function(number): string, deciding?: ?number, most?: number, actions: object}} about
 * @returns {Array}
 */
export function firedList(store, fired, values, { held = null, text, deciding = null, most = MOST_RULES, actions }) {
  const { entries } = store.state;
  const rest = fired.length - most;
  const item = (r) =>
    ruleItem(store, entries[r], values, { text: text(r), share: held && held[r], isDeciding: r === deciding, actions });
  return [
    h("ol", "fired-rules", fired.slice(0, most).map(item)),
    rest > 0 ? muted(`and ${counted(rest, "more rule")}`) : null,
  ];
}

function howFar(membership, model, attribute, values) {
  const value = values[model.attributes.indexOf(attribute)];
  const shown = value === null ? missingText(model, attribute) : showValue(attribute, value);
  if (membership >= 1) return span("muted", `: it is ${shown}`);
  if (membership > 0) return span("muted", `: it is ${shown}, holds to ${shareText(membership)}`);
  return span("fails", ` fails: it is ${shown}`);
}

/**
 * Where no rule fires, the rule that decides all the same, with what fails.
 *
 * @param {object} store
 * @param {Array} values
 * @param {object} explained
 * @param {object} actions
 * @returns {?HTMLElement}
 */
export function nearestRule(store, values, { fired, rule }, actions) {
  if (fired.length || rule === null) return null;
  const about = { text: "decides", share: null, isDeciding: false, actions };
  return h("ol", "fired-rules", ruleItem(store, store.state.entries[rule - 1], values, about));
}

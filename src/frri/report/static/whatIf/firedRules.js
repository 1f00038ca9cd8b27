/**
 * Rules beside a row: those that fire with how far each condition holds, and those that nearly do with the
 * conditions that fail.
 */

import { ruleLabel, shareBar } from "../charts/chart.js";
import { actionButton, h, sentence } from "../core/dom.js";
import { degrees, fit, prepare, encode } from "../core/evaluator.js";
import { phrasesOf } from "../model/ruleText.js";
import { attributesByName, counted, missingText, shareText, showValue } from "../core/format.js";

const MOST_RULES = 12;
const MOST_NEAR = 3;

/**
 * How far each condition of a rule holds, from 0 to 1.
 *
 * @param {object} model
 * @param {object} rule
 * @param {Array} values
 * @returns {number[]}
 */
function membershipsOf(model, rule, values) {
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
      { class: "fired" },
      actionButton(`Rule ${number}`, () => actions.openRule(number), "link"),
      ruleLabel(store, rule),
      share === null ? null : shareBar(share),
      h("span", { class: "number" }, text),
    ),
    rule.if.length ? null : h("p", { class: "muted" }, "It has no conditions."),
    h(
      "ul",
      { class: "held" },
      phrasesOf(store, entry).map(({ parts, places }) => {
        const attribute = attributes.get(rule.if[places[0]].attribute);
        const held = Math.min(...places.map((k) => memberships[k]));
        return h("li", {}, h("span", { class: "name" }, sentence(parts)), howFar(held, model, attribute, values));
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
 * @param {{held?: ?number[], text: function(number): string, deciding?: ?number, actions: object}} about
 * @returns {Array}
 */
export function firedList(store, fired, values, { held = null, text, deciding = null, actions }) {
  const { entries } = store.state;
  const rest = fired.length - MOST_RULES;
  const item = (r) =>
    ruleItem(store, entries[r], values, { text: text(r), share: held && held[r], isDeciding: r === deciding, actions });
  return [
    h("ol", { class: "fired-rules" }, fired.slice(0, MOST_RULES).map(item)),
    rest > 0 ? h("p", { class: "muted" }, `and ${counted(rest, "more rule")}`) : null,
  ];
}

function howFar(membership, model, attribute, values) {
  const value = values[model.attributes.indexOf(attribute)];
  const shown = value === null ? missingText(model, attribute) : showValue(attribute, value);
  if (membership >= 1) return h("span", { class: "muted" }, `: it is ${shown}`);
  if (membership > 0) return h("span", { class: "muted" }, `: it is ${shown}, holds to ${shareText(membership)}`);
  return h("span", { class: "fails" }, ` fails: it is ${shown}`);
}

/**
 * Where no rule fires, the rule that decides all the same, with what fails; in a list, those before the
 * one that decides which fail by a single condition, the narrowest first.
 *
 * @param {object} store
 * @param {Array} values
 * @param {object} explained
 * @param {object} actions
 * @returns {?Array}
 */
export function nearList(store, values, explained, actions) {
  const { model, entries } = store.state;
  const show = (r, text) =>
    ruleItem(store, entries[r], values, { text, share: null, isDeciding: false, actions });
  if (!explained.fired.length && explained.rule !== null)
    return [
      h("h4", {}, "The nearest rule"),
      h("ol", { class: "fired-rules" }, show(explained.rule - 1, "decides")),
    ];
  if (model.semantics.name !== "first-match") return null;
  const end = explained.rule === null ? entries.length : explained.rule - 1;
  const narrow = narrowly(model, values, end);
  if (!narrow.length) return null;
  return [
    h("h4", {}, "Narrowly failed before it"),
    h("ol", { class: "fired-rules" }, narrow.slice(0, MOST_NEAR).map(({ r }) => show(r, "one condition fails"))),
  ];
}

/** The first rules of a list that fail by one condition, by how little that one fails. */
function narrowly(model, values, end) {
  const ready = prepare(model);
  const encoded = encode(ready, values);
  return ready.rules
    .slice(0, end)
    .map((rule, r) => {
      const failing = rule.conditions
        .map((condition) => fit(ready, rule, condition, encoded[condition.column]))
        .filter((value) => !(value > 0));
      return { r, failing, miss: -failing[0] };
    })
    .filter(({ failing }) => failing.length === 1)
    .sort((a, b) => a.miss - b.miss);
}

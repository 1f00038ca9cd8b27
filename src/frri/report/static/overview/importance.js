/** Which columns matter: what is lost without each, in how many rules it is used, and which way it moves answers. */

import { shareBar } from "../charts/chart.js";
import { h, muted, named, put, sentence, span } from "../core/dom.js";
import { counted, percentText } from "../core/format.js";
import { directionParts, effectOf } from "../model/effects.js";

/** Equal steps along the range of a column, beside the bounds of conditions. */
const STEPS = 16;

/**
 * The loss of accuracy is measured in Python, of the rules as learned; where columns are used is counted.
 *
 * @param {object} store
 * @param {number} most columns
 * @param {boolean} isShort without numbers
 * @returns {?HTMLElement} null where no rule uses a column
 */
export function importance(store, most, isShort) {
  const { facts, state, isEdited, rows } = store;
  const used = new Map();
  for (const { rule } of state.entries)
    for (const name of new Set(rule.if.map((condition) => condition.attribute)))
      used.set(name, (used.get(name) ?? 0) + 1);
  const known = !isEdited && facts.attributes.some((attribute) => attribute.importance !== null);
  const size = ({ name, importance: loss }) => (known ? loss : (used.get(name) ?? 0) / Math.max(state.entries.length, 1));
  const order = facts.attributes
    .map((attribute, j) => ({ ...attribute, j }))
    .filter(({ name }) => used.has(name))
    .sort((a, b) => size(b) - size(a) || used.get(b.name) - used.get(a.name));
  if (!order.length) return null;
  const largest = Math.max(...order.map(size), 1e-9);
  const shown = order.slice(0, most);
  const directions = shown.map(() => h("td", "direction"));
  if (rows) showDirections();
  const line = (attribute, k) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, named(attribute.name)),
      h("td", "bar", shareBar(size(attribute) / largest)),
      directions[k],
      isShort || !known ? null : h("td", "number", percentText(Math.max(attribute.importance, 0))),
      isShort ? null : h("td", "number", used.get(attribute.name)),
    );
  const help = known
    ? `How much ${facts.numbers ? "R²" : "accuracy"} is lost when the values of a column are shuffled`
    : "In how many rules each column is used";
  const heading = (text, extra) => h("th", { scope: "col", class: extra }, text);
  const table = h(
    "table",
    { class: "importance", title: isShort ? help : null },
    h(
      "thead",
      { class: isShort ? "hidden" : null },
      h("tr", {}, heading("Column"), heading("Importance"), heading("Direction", "direction"), isShort || !known ? null : heading("Loss", "number"), isShort ? null : heading("Rules", "number")),
    ),
    h("tbody", {}, shown.map(line)),
  );
  const rest = order.length - shown.length;
  if (isShort) return table;
  return h("div", {}, muted(`${help}.`), table, rest > 0 ? muted(`and ${counted(rest, "more column")}`) : null);

  async function showDirections() {
    for (const [k, { j }] of shown.entries()) {
      const points = await effectOf(store, j, STEPS, () => store.state !== state);
      if (!points) return;
      put(directions[k], span("clamped", sentence(directionParts(facts, j, points))));
    }
  }
}

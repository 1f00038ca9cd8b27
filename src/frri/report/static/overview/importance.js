/** Which attributes matter: what is lost without each, and in how many rules it is used. */

import { shareBar } from "../charts/chart.js";
import { h, named } from "../core/dom.js";
import { counted, percentText } from "../core/format.js";

const MOST_ATTRIBUTES = 15;

/**
 * The loss of accuracy is measured in Python, of the rules as learned; where they are used is counted.
 *
 * @param {object} store
 * @returns {Array}
 */
export function importance({ facts, state, isEdited }) {
  const used = new Map();
  for (const { rule } of state.entries)
    for (const name of new Set(rule.if.map((condition) => condition.attribute)))
      used.set(name, (used.get(name) ?? 0) + 1);
  const attributes = facts.attributes.map((attribute) => ({
    ...attribute,
    n_rules: used.get(attribute.name) ?? 0,
  }));
  const known = !isEdited && attributes.some((attribute) => attribute.importance !== null);
  const size = (attribute) =>
    known ? attribute.importance : attribute.n_rules / Math.max(state.entries.length, 1);
  const order = [...attributes].sort((a, b) => size(b) - size(a) || b.n_rules - a.n_rules);
  const most = Math.max(...order.map(size), 1e-9);
  const rows = order
    .slice(0, MOST_ATTRIBUTES)
    .map((attribute) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, named(attribute.name)),
        h("td", { class: "bar" }, shareBar(size(attribute) / most)),
        known ? h("td", { class: "number" }, percentText(Math.max(attribute.importance, 0))) : null,
        h("td", { class: "number" }, attribute.n_rules),
      ),
    );
  const rest = order.length - rows.length;
  return [
    h(
      "p",
      { class: "muted" },
      known
        ? `How much ${facts.numbers ? "R2" : "accuracy"} is lost when an attribute’s values are shuffled, and in how many rules it is used.`
        : "In how many rules each attribute is used.",
    ),
    h(
      "table",
      { class: "importance" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Attribute"),
          h("td", {}),
          known ? h("th", { scope: "col", class: "number" }, "Loss") : null,
          h("th", { scope: "col", class: "number" }, "Rules"),
        ),
      ),
      h("tbody", {}, rows),
    ),
    rest > 0 ? h("p", { class: "muted" }, `and ${counted(rest, "more attribute")}`) : null,
  ];
}

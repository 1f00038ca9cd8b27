/** The conditions of a rule as a row of small drawings. */

import { conditionChart, scalesOf } from "./chart.js";
import { h, named, plain, sentence } from "./dom.js";
import { attributesByName, conditionParts, shortParts } from "./words.js";

/**
 * The conditions of a rule, each drawn over the distribution of its attribute.
 *
 * @param {object} store
 * @param {object} rule
 * @returns {HTMLElement}
 */
export function conditionChips(store, rule) {
  const { model } = store.facts;
  if (!rule.if.length)
    return h(
      "p",
      { class: "always" },
      model.semantics.name === "first-match" ? "otherwise" : "always",
    );
  const attributes = attributesByName(model);
  const scales = scalesOnce(store);
  return h(
    "ul",
    { class: "chips" },
    rule.if.map((condition) => {
      const attribute = attributes.get(condition.attribute);
      const full = plain(conditionParts(condition, attribute, model.semantics.clip));
      return h(
        "li",
        { class: "chip", title: full.slice(0, 400) },
        h("span", { class: "chip-name" }, named(attribute.name)),
        conditionChart(condition, attribute, scales.get(attribute.name)),
        h("span", { class: "chip-bounds" }, sentence(shortParts(condition, attribute))),
      );
    }),
  );
}

const scaleCache = new WeakMap();
/**
 * The scales of all attributes, worked out once.
 *
 * @param {object} store
 * @returns {Map<string, object>}
 */
export function scalesOnce(store) {
  if (!scaleCache.has(store)) scaleCache.set(store, scalesOf(store.facts.model, store.facts));
  return scaleCache.get(store);
}

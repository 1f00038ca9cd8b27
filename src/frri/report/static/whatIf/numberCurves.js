/** The number that would result along each attribute, the others staying as they are. */

import { predict } from "../core/evaluator.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { attributesByName, boundsOf } from "../core/format.js";

/** Equal steps along a range; the bounds of conditions are added as corners, unless there are very many. */
const STEPS = 60;
const MOST_BOUNDS = 60;

/**
 * @typedef {object} Point
 * @property {number} at      the encoded value of the attribute
 * @property {number} answer  the number there
 *
 * @param {object} model
 * @param {Array} values of the row
 * @param {Map<string, {low: number, high: number}>} scales of the attributes
 * @param {function(): boolean} isStale true gives up
 * @returns {Promise<?Map<number, Point[]>>} by the position of each attribute that a rule uses
 */
export async function allCurves(model, values, scales, isStale) {
  const curves = new Map();
  const items = placesOf(model, scales);
  const isWhole = await forEachYielding(
    items,
    ({ j, at }) => {
      const { categories } = model.attributes[j];
      const changed = values.slice();
      changed[j] = categories ? categories[at] : at;
      if (!curves.has(j)) curves.set(j, []);
      curves.get(j).push({ at, answer: predict(model, changed) });
    },
    isStale,
  );
  return isWhole ? curves : null;
}

function placesOf(model, scales) {
  const attributes = attributesByName(model);
  const conditions = model.rules.flatMap((rule) => rule.if);
  return [...new Set(conditions.map(({ attribute }) => attribute))].flatMap((name) => {
    const attribute = attributes.get(name);
    const j = model.attributes.indexOf(attribute);
    if (attribute.categories) return attribute.categories.map((_, at) => ({ j, at }));
    const { low, high } = scales.get(name);
    const bounds = conditions
      .filter((condition) => condition.attribute === name)
      .flatMap(boundsOf)
      .filter((bound) => bound > low && bound < high);
    const corners = bounds.length > MOST_BOUNDS ? [] : bounds;
    const steps = Array.from({ length: STEPS + 1 }, (_, k) => low + ((high - low) * k) / STEPS);
    return [...new Set([...steps, ...corners])].sort((a, b) => a - b).map((at) => ({ j, at }));
  });
}

/**
 * The lowest and the highest point of a curve.
 *
 * @param {Point[]} points
 * @returns {{lowest: Point, highest: Point}}
 */
export function extremes(points) {
  return {
    lowest: points.reduce((a, b) => (b.answer < a.answer ? b : a)),
    highest: points.reduce((a, b) => (b.answer > a.answer ? b : a)),
  };
}

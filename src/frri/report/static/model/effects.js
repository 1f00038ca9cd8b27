/** The effect of a column: mean answers over some rows as the column moves along its range. */

import { predict, probabilities } from "../core/evaluator.js";
import { scalesOnce } from "../charts/distributions.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { isCalibrated, kindOf } from "./kind.js";

/** Rows that are enough for a mean. */
const ENOUGH_ROWS = 60;
/** A column whose ends differ by less than this share has no direction. */
const SMALL = 0.02;

/**
 * @param {object} store with rows
 * @param {number} j the column
 * @param {number} steps along its range
 * @param {function(): boolean} isStale true gives up
 * @returns {Promise<?Array<{at: number, means: number[]}>>} encoded values; the mean number, or for each class the
 *   mean probability (where these are not calibrated, the fraction of the rows decided so)
 */
export async function effectOf(store, j, steps, isStale) {
  const { rows, state } = store;
  const { model } = state;
  const { categories, name } = model.attributes[j];
  const { low, high } = scalesOnce(store).get(name);
  const places = categories ? [...categories.keys()] : Array.from({ length: steps + 1 }, (_, k) => low + ((high - low) * k) / steps);
  const n = Math.min(rows.n, ENOUGH_ROWS);
  const points = places.map((at) => ({ at, means: new Array(model.classes.length || 1).fill(0) }));
  const chosen = Array.from({ length: n }, (_, k) => rows.at(Math.floor((k * rows.n) / n)));
  const items = points.flatMap((point) => chosen.map((row) => [point, row]));
  const answers = answersOf(model);
  const isWhole = await forEachYielding(
    items,
    ([{ at, means }, row]) => {
      const changed = row.slice();
      changed[j] = categories ? categories[at] : at;
      answers(changed).forEach((value, c) => {
        means[c] += value / n;
      });
    },
    isStale,
  );
  return isWhole ? points : null;
}

function answersOf(model) {
  if (kindOf(model).isNumber) return (row) => [predict(model, row)];
  if (isCalibrated(model)) return (row) => probabilities(model, row);
  return (row) => {
    const decided = predict(model, row);
    return model.classes.map((label) => Number(label === decided));
  };
}

/**
 * Which way answers go as a column grows.
 *
 * @param {object} facts
 * @param {Array<{at: number, means: number[]}>} points
 * @returns {?import("./ruleText.js").Parts} null where there is no direction
 */
export function directionParts({ model, numbers }, points) {
  const { isNumber, isOrdered } = kindOf(model);
  const [first, last] = [points[0].means, points.at(-1).means];
  const gains = last.map((mean, c) => mean - first[c]);
  if (isNumber || isOrdered) {
    const gain = gains.reduce((sum, one, c) => sum + one * (isNumber ? 1 : c), 0);
    if (Math.abs(gain) < SMALL * (isNumber ? numbers.high - numbers.low : 1)) return null;
    return [gain > 0 ? "higher: more" : "higher: less"];
  }
  const most = Math.max(...gains);
  return most < SMALL ? null : ["higher: more ", { name: model.classes[gains.indexOf(most)] }];
}

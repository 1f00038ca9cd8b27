/** The effect of a column: mean answers over some rows as the column moves along its range. */

import { predict, probabilities } from "../core/evaluator.js";
import { scalesOnce } from "../charts/distributions.js";
import { boundsOf, sum } from "../core/format.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { isCalibrated, kindOf, rarest } from "./kind.js";

/** Rows that are enough for a mean. */
const ENOUGH_ROWS = 60;
/** Bounds of conditions are corners of a curve, unless there are very many. */
const MOST_BOUNDS = 60;
/** A column that moves answers by less than this share has no direction. */
const SMALL = 0.02;
/** Turns of less than this share of the height of a curve do not count. */
const NOISE = 0.1;
/** Heights of curves that are closer are equal. */
const TIE = 1e-9;
const SHAPES = { "1,-1": "rises, then falls", "-1,1": "falls, then rises", "-1": "falls" };

/**
 * @typedef {object} Point
 * @property {number} at        the encoded value of the column
 * @property {number[]} means   the mean number, or for each class the mean probability (where these are not
 *   calibrated, the fraction of the rows decided so)
 *
 * @param {object} store
 * @param {number} j the column
 * @param {number} steps along its range
 * @param {function(): boolean} isStale true gives up
 * @param {?Array<Array>} [given] rows; those of the page by default
 * @returns {Promise<?Point[]>}
 */
export async function effectOf(store, j, steps, isStale, given = null) {
  const { rows, state } = store;
  const { model } = state;
  const { categories } = model.attributes[j];
  const n = given ? given.length : Math.min(rows.n, ENOUGH_ROWS);
  const chosen = given ?? Array.from({ length: n }, (_, k) => rows.at(Math.floor((k * rows.n) / n)));
  const points = placesOf(store, j, steps).map((at) => ({ at, means: new Array(model.classes.length || 1).fill(0) }));
  const items = points.flatMap((point) => chosen.map((row) => [point, row]));
  const answers = answersOf(model);
  const isWhole = await forEachYielding(
    items,
    ([{ at, means }, row]) => {
      const changed = row.with(j, categories ? categories[at] : at);
      answers(changed).forEach((value, c) => {
        means[c] += value / n;
      });
    },
    isStale,
  );
  return isWhole ? points : null;
}

function placesOf(store, j, steps) {
  const { model } = store.state;
  const { categories, name } = model.attributes[j];
  if (categories) return [...categories.keys()];
  const { low, high } = scalesOnce(store).get(name);
  const even = Array.from({ length: steps + 1 }, (_, k) => low + ((high - low) * k) / steps);
  const conditions = model.rules.flatMap((rule) => rule.if).filter(({ attribute }) => attribute === name);
  const bounds = conditions.flatMap(boundsOf).filter((bound) => bound > low && bound < high);
  return [...new Set([...even, ...(bounds.length > MOST_BOUNDS ? [] : bounds)])].sort((a, b) => a - b);
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
 * Which way answers go as a column grows, by its whole curve, or at which category they are highest.
 *
 * @param {object} facts
 * @param {number} j the column
 * @param {Point[]} points
 * @returns {import("./ruleText.js").Parts} empty where there is no direction
 */
export function directionParts({ model, numbers }, j, points) {
  const { isNumber, isOrdered } = kindOf(model);
  const { kind, categories } = model.attributes[j];
  const isNominal = kind === "nominal";
  // A number, or where the answer is along the order of the classes; for other classes the probability of each.
  const levels = points.map(({ means }) => (isOrdered ? [sum(means.map((mean, c) => mean * c))] : means));
  const least = SMALL * (isNumber ? numbers.high - numbers.low : 1);
  const curves = levels[0].map((_, c) => {
    const along = levels.map((level) => level[c]);
    const top = Math.max(...along);
    const width = top - Math.min(...along);
    const ways = isNominal ? [1] : waysOf(along, Math.max(least, NOISE * width));
    return { c, width, ways, top: along.indexOf(top), gain: isNominal ? width : along.at(-1) - along[0] };
  });
  const first = curves[curves.length > 1 ? rarest(model) : 0];
  const widest = curves.reduce((a, b) => (b.width > a.width + TIE ? b : a), first);
  const most = curves.reduce((a, b) => (b.gain > a.gain ? b : a));
  if (widest.width < least) return [];
  const isSingle = curves.length < 2;
  if (widest.ways.length !== 1 || (!isSingle && String(most.ways) !== "1")) {
    const shape = SHAPES[String(widest.ways)] ?? "mixed";
    return isSingle ? [shape] : [{ name: model.classes[widest.c] }, `: ${shape}`];
  }
  const start = ["if ", isNominal ? { name: categories[most.top] } : "higher", ", "];
  if (isSingle) return [...start, `${most.ways[0] > 0 ? "higher" : "lower"} ${isNumber ? "prediction" : "class"}`];
  return [...start, "more often ", { name: model.classes[most.c] }];
}

/** The ways that a curve goes in turn, 1 up and -1 down; less than a least height is no way. */
function waysOf(along, least) {
  const ways = [];
  let [low, high] = [along[0], along[0]];
  for (const value of along) {
    [low, high] = [Math.min(low, value), Math.max(high, value)];
    const way = Number(value - low >= least) - Number(high - value >= least);
    if (!way) continue;
    if (ways.at(-1) !== way) ways.push(way);
    low = high = value;
  }
  return ways;
}

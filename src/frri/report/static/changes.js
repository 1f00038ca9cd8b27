/**
 * The nearest change of a row that alters the decision.
 *
 * Changes are measured in shares of an attribute's training range; another category, and a value for
 * a missing one, cost 1. First every single attribute is searched: between two neighbouring bounds of
 * the rules the memberships are straight lines, so the ends and the middle of each such piece are
 * tried, nearest first, and where the decision differs the border is found by halving. If no single
 * attribute suffices, the nearest embedded row with another decision is taken, and as many of its
 * differences undone as may be.
 */

import { predict } from "./evaluator.js";
import { inSlices } from "./slices.js";
import { boundsOf, numberText, rangeOf, widthOf } from "./words.js";

/** Bisection stops here, in shares of a range. */
const FINE = 1e-9;

/**
 * @typedef {{values: Array, changed: number[], prediction: *, cost: number}} Change
 *
 * @param {object} model
 * @param {Array} values of the row, as the evaluator takes them
 * @param {?object} rows embedded rows
 * @param {?ArrayLike<number>} decided the classes decided for them
 * @param {function(): boolean} [isStale] true gives up
 * @returns {Promise<?Change|undefined>} null if there is none, undefined if given up
 */
export async function nearestChange(model, values, rows, decided, isStale = () => false) {
  const now = predict(model, values);
  const decides = (j, value) => predict(model, replaced(values, j, value));
  let best = null;
  const finished = await inSlices(
    candidates(model, values),
    ({ j, from, to, least }) => {
      if (best && least >= best.cost) return false;
      if (decides(j, to) === now) return true;
      const value = border(model.attributes[j], from, to, (x) => decides(j, x) !== now);
      const cost = costOf(model.attributes[j], values[j], value);
      if (!best || cost < best.cost) best = { j, value, cost };
      return true;
    },
    isStale,
  );
  if (!finished) return undefined;
  if (best) {
    const found = replaced(values, best.j, best.value);
    return { values: found, changed: [best.j], prediction: predict(model, found), cost: best.cost };
  }
  return rows ? severalChanges(model, values, rows, decided, now, isStale) : null;
}

function replaced(values, j, value) {
  const copy = values.slice();
  copy[j] = value;
  return copy;
}

function costOf(attribute, before, after) {
  if (before === after) return 0;
  if (before === null || attribute.kind === "nominal") return 1;
  return Math.abs(position(attribute, after) - position(attribute, before)) / widthOf(attribute);
}

function position(attribute, value) {
  return attribute.categories ? attribute.categories.indexOf(value) : value;
}

/** Pieces to try, {attribute j, from, to, least cost}, cheapest first. */
function candidates(model, values) {
  const conditions = new Map();
  for (const rule of model.rules) {
    for (const condition of rule.if) {
      if (!conditions.has(condition.attribute)) conditions.set(condition.attribute, []);
      conditions.get(condition.attribute).push(condition);
    }
  }
  const pieces = [];
  model.attributes.forEach((attribute, j) => {
    const used = conditions.get(attribute.name);
    if (!used) return;
    if (attribute.categories) {
      for (const category of attribute.categories) {
        const cost = costOf(attribute, values[j], category);
        if (cost) pieces.push({ j, from: null, to: category, least: cost });
      }
      return;
    }
    const points = tryingPoints(attribute, used, values[j]);
    if (values[j] === null) {
      for (const to of points) pieces.push({ j, from: null, to, least: 1 });
      return;
    }
    const x = values[j];
    const width = widthOf(attribute);
    for (const side of [
      points.filter((point) => point > x),
      points.filter((point) => point < x).reverse(),
    ]) {
      let from = x;
      for (const to of side) {
        pieces.push({ j, from, to, least: Math.abs(from - x) / width });
        from = to;
      }
    }
  });
  return pieces.sort((a, b) => a.least - b.least);
}

/** Bounds of the conditions on an attribute within its range, the range's ends, and the middles. */
function tryingPoints(attribute, used, value) {
  const bounds = used.flatMap(boundsOf).filter(Number.isFinite);
  const [low, high] = rangeOf(attribute);
  const margin = widthOf(attribute) / 20;
  const least = Number.isFinite(low) ? low : Math.min(...bounds) - margin;
  const most = Number.isFinite(high) ? high : Math.max(...bounds) + margin;
  const inside = bounds.filter((bound) => bound > least && bound < most);
  const ends = [...new Set([least, most, ...inside, ...(value === null ? [] : [value])])].sort(
    (a, b) => a - b,
  );
  const middles = ends.slice(1).map((end, i) => end + (ends[i] - end) / 2);
  return [...new Set([...ends, ...middles])].sort((a, b) => a - b);
}

/** The nearest value beyond which the decision differs, a round one if there is one close by. */
function border(attribute, from, to, differs) {
  if (from === null || attribute.categories) return to;
  const width = widthOf(attribute);
  let [same, other] = [from, to];
  while (Math.abs(other - same) > FINE * width) {
    const middle = same + (other - same) / 2;
    if (middle === same || middle === other) break;
    if (differs(middle)) other = middle;
    else same = middle;
  }
  const step = 10 ** (Math.floor(Math.log10(width)) - 3);
  const steps = to > from ? Math.ceil(other / step) : Math.floor(other / step);
  const round = Number(numberText(steps * step, width));
  return attribute.kind !== "date" && differs(round) ? round : other;
}

/** From the nearest row that is decided otherwise, with everything undone that can be. */
async function severalChanges(model, values, rows, decided, now, isStale) {
  const nowIndex = model.classes.indexOf(now);
  let nearest = null;
  const cost = (row) =>
    row.reduce((sum, value, j) => sum + costOf(model.attributes[j], values[j], value), 0);
  const others = Array.from({ length: rows.n }, (_, i) => i).filter((i) => decided[i] !== nowIndex);
  const finished = await inSlices(
    others,
    (i) => {
      const row = rows.at(i);
      if (row.includes(null)) return;
      const distance = cost(row);
      if (!nearest || distance < nearest.distance) nearest = { row, distance };
    },
    isStale,
  );
  if (!finished) return undefined;
  if (!nearest) return null;
  let found = nearest.row;
  const order = model.attributes
    .map((attribute, j) => [costOf(attribute, values[j], found[j]), j])
    .sort((a, b) => b[0] - a[0]);
  for (const [, j] of order) {
    const undone = replaced(found, j, values[j]);
    if (predict(model, undone) !== now) found = undone;
  }
  const changed = found.flatMap((value, j) => (value === values[j] ? [] : [j]));
  return { values: found, changed, prediction: predict(model, found), cost: cost(found) };
}

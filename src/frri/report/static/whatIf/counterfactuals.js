/**
 * What would change the answer about a row: the nearest values of single attributes, by the strips, and where these are
 * not enough those of two, or of several together. Of numbers, what reaches a target.
 *
 * The distance is Gower's, as in Python: shares of an attribute's training range; another category, and a value for a
 * missing one, cost 1. Fewer attributes come first; of equal ones the first is taken.
 */

import { explain, predict } from "../core/evaluator.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { caseOf, classStrip, next, placesOf, reaches } from "./classStrips.js";
import { sum, widthOf } from "../core/format.js";
import { usedColumns } from "../model/ranking.js";

/** Strips times rules that a search for pairs may take. */
const EFFORT = 40_000;
/** Number of places between its neighbours at which the first value of a pair is tried, and then again between these. */
const [TRIES, ROUNDS] = [8, 5];
/** Steps of a rounded date: a day, an hour, a minute, a second, a microsecond. */
const TIMES = [1, 24, 1440, 86400, 86400e6];
/** A rounded number moves at most this share of the training range. */
const COARSEST = 0.02;
/** Ever finer steps, at most so many. */
const FINER = 12;

/**
 * The strips of all attributes that rules use, in their order.
 *
 * @param {object} model
 * @param {Array} values of the row, as the evaluator takes them
 * @param {?import("./classStrips.js").Target} [target] of numbers
 * @param {function(): boolean} [isStale] true gives up
 * @returns {Promise<?Map<number, object[]>>} pieces by attribute; null if given up
 */
export async function allClassStrips(model, values, target = null, isStale = () => false) {
  const one = caseOf(model, values, target);
  const strips = new Map();
  const finished = await forEachYielding(usedColumns(model), (j) => void strips.set(j, classStrip(one, j)), isStale);
  return finished ? strips : null;
}

/** The class that a row is decided as, by its position; of numbers, 1 where a target is reached, else 0. */
function positionOf(model, target) {
  if (target) return (values) => Number(reaches(target, predict(model, values)));
  return (values) => model.classes.indexOf(predict(model, values));
}

/**
 * @typedef {{values: Array, changed: number[], prediction: *, rule: ?number, silent: boolean, cost: number}} Change
 *   with the rule that would decide, from 1, and whether it would only be the nearest
 *
 * @typedef {{model: object, values: Array, locked: Set<number>, target?: ?import("./classStrips.js").Target}} Search
 *   a row, the attributes that stay as they are, and what a number shall reach
 *
 * The nearest changes of single attributes: of each attribute the nearest one towards every other class.
 *
 * @param {Search} search
 * @param {Map<number, object[]>} strips
 * @param {number} most
 * @returns {{found: Change[], reached: Set<*>}} the nearest first, and the classes that single attributes lead to
 */
export function singleChanges({ model, values, locked, target = null }, strips, most) {
  const position = positionOf(model, target);
  const now = position(values);
  const candidates = new Map();
  for (const [j, pieces] of strips) {
    if (locked.has(j)) continue;
    for (const { value, cost, decided } of nearestPieces(model.attributes[j], values[j], pieces, now)) {
      const key = `${j} ${decided}`;
      if (!(cost >= candidates.get(key)?.cost)) candidates.set(key, { j, value, cost, decided });
    }
  }
  const order = [...candidates.values()].sort((a, b) => a.cost - b.cost);
  const found = order
    .slice(0, most)
    .map(({ j, value, cost, decided }) => changeTo(model, values, values.with(j, value), cost, (row) => position(row) === decided));
  return { found, reached: new Set(order.map(({ decided }) => model.classes[decided])) };
}

/**
 * The nearest changes of two attributes: one takes each value at which something may change, the other the nearest
 * value that is then enough.
 *
 * @param {Search} search
 * @param {number} most
 * @param {function(): boolean} [isStale]
 * @returns {Promise<?Change[]>} at most one of each pair, the nearest first; null if given up
 */
export async function pairChanges({ model, values, locked, target = null }, most, isStale = () => false) {
  const position = positionOf(model, target);
  const now = position(values);
  const columns = usedColumns(model).filter((j) => !locked.has(j));
  const costAt = (j, value) => costOf(model.attributes[j], values[j], value);
  const one = caseOf(model, values, target);
  const places = new Map(columns.map((j) => [j, placesOf(one, j)]));
  const starts = columns
    .flatMap((j) => places.get(j).flatMap((at) => besides(model.attributes[j], values[j], at).map((value) => ({ j, value, cost: costAt(j, value) }))))
    .filter(({ cost }) => cost)
    .sort((a, b) => a.cost - b.cost);
  /** @type {Map<string, {j: number, k: number, after: Array, cost: number}>} */
  const best = new Map();
  const nearest = () => [...best.values()].sort((a, b) => a.cost - b.cost).slice(0, most);
  let [limit, effort] = [Infinity, EFFORT];
  const tryOut = (j, value, others) => {
    const near = caseOf(model, values.with(j, value), target);
    for (const k of others) {
      const key = String([j, k].sort((a, b) => a - b));
      for (const { value: other, cost } of nearestPieces(model.attributes[k], values[k], classStrip(near, k), now)) {
        const total = costAt(j, value) + cost;
        if (!cost || total >= (best.get(key)?.cost ?? Infinity)) continue;
        best.set(key, { j, k, after: values.with(j, value).with(k, other), cost: total });
      }
    }
  };
  const finished = await forEachYielding(
    starts,
    ({ j, value, cost }) => {
      if (cost >= limit || effort <= 0) return false;
      effort -= columns.length * model.rules.length;
      tryOut(j, value, columns.filter((k) => k !== j));
      limit = nearest()[most - 1]?.cost ?? Infinity;
    },
    isStale,
  );
  if (!finished) return null;
  for (const { j, k, after } of nearest()) refine(j, k, after[j]);
  return nearest().map(({ after, cost }) => changeTo(model, values, after, cost, (row) => position(row) !== now));

  /** Between two places costs are traded against each other. */
  function refine(j, k, start) {
    if (model.attributes[j].categories) return;
    const all = places.get(j);
    let [low, high] = [all.findLast((at) => at < start) ?? start, all.find((at) => at > start) ?? start];
    for (let round = 0; round < ROUNDS; round += 1) {
      const step = (high - low) / TRIES;
      for (let i = 0; i <= TRIES; i += 1) tryOut(j, low + i * step, [k]);
      const kept = best.get(String([j, k].sort((a, b) => a - b)));
      [low, high] = [kept.after[j] - step, kept.after[j] + step];
    }
  }
}

/** A value and its neighbour on the far side, both as the evaluator takes them. */
function besides({ categories }, before, at) {
  if (categories) return [categories[at]];
  return [at, next(at, at < before ? -1 : 1)];
}

/** A change as far rounded as it still leads to the same. */
function changeTo(model, before, after, cost, leads) {
  let values = after;
  const changed = after.flatMap((value, j) => (value === before[j] ? [] : [j]));
  for (const j of changed) {
    const own = values;
    values = own.with(j, readable(model.attributes[j], before[j], own[j], (value) => leads(own.with(j, value))));
  }
  const { prediction, rule, fired } = explain(model, values);
  return { values, changed, prediction, rule, silent: !fired.length && rule !== null, cost };
}

/** For each piece that is decided otherwise its nearest value, with what it costs. */
function nearestPieces(attribute, before, pieces, now) {
  return pieces
    .filter(({ decided }) => decided !== now)
    .map(({ from, to, decided }) => {
      let value = attribute.categories ? attribute.categories[from] : before < from ? from : to;
      if (before === null && !attribute.categories) value = (from + to) / 2;
      return { value, decided, cost: costOf(attribute, before, value) };
    });
}

function costOf(attribute, before, after) {
  if (before === after) return 0;
  if (before === null || attribute.kind === "nominal") return 1;
  return Math.abs(position(attribute, after) - position(attribute, before)) / widthOf(attribute);
}

function position(attribute, value) {
  return attribute.categories ? attribute.categories.indexOf(value) : value;
}

/**
 * A value as short as it can be while it still leads to the same: ever less rounded ones beyond the
 * border, seen from the old value.
 */
function readable(attribute, before, after, leads) {
  if (attribute.categories) return after;
  const [low, high] = [attribute.low ?? -Infinity, attribute.high ?? Infinity];
  const away = after > before ? Math.ceil : Math.floor;
  const ways = before === null ? [Math.round] : [Math.round, away];
  for (const step of stepsOf(attribute)) {
    for (const towards of ways) {
      const value = step.multiple(towards(after / step.size)) + 0;
      if (low <= value && value <= high && value !== before && leads(value)) return value;
    }
  }
  return after;
}

function stepsOf(attribute) {
  const width = widthOf(attribute);
  const fine = ({ size }) => size <= COARSEST * width;
  if (attribute.kind === "date")
    return TIMES.map((parts) => ({ size: 1 / parts, multiple: (n) => n / parts })).filter(fine);
  const start = Math.floor(Math.log10(COARSEST * width));
  return Array.from({ length: FINER }, (_, k) => {
    const exponent = start - k;
    const [size, parts] = [Number(`1e${exponent}`), Number(`1e${-exponent}`)];
    return { size, multiple: (n) => (size >= 1 ? n * size : n / parts) };
  }).filter(fine);
}

/**
 * From the nearest row that is decided otherwise, with everything undone that can be, as far as it can be.
 *
 * @param {Search} search
 * @param {Iterable<Array>} rows
 * @param {function(): boolean} [isStale]
 * @returns {Promise<?Change|undefined>} null if there is none, undefined if given up
 */
export async function severalChanges({ model, values, locked, target = null }, rows, isStale = () => false) {
  const position = positionOf(model, target);
  const now = position(values);
  /** @type {?{row: Array, distance: number}} */
  let nearest = null;
  const cost = (row) => sum(row.map((value, j) => costOf(model.attributes[j], values[j], value)));
  const finished = await forEachYielding(
    rows,
    (given) => {
      const row = given.map((value, j) => (locked.has(j) ? values[j] : value));
      if (row.includes(null)) return;
      const distance = cost(row);
      if (nearest && distance >= nearest.distance) return;
      if (!locked.size || position(row) !== now) nearest = { row, distance };
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
    const undone = found.with(j, values[j]);
    if (position(undone) !== now) found = undone;
  }
  // Then each value goes back as far as it can while the others stay.
  for (const [, j] of order) {
    const own = costOf(model.attributes[j], values[j], found[j]);
    if (!own) continue;
    const strip = classStrip(caseOf(model, found, target), j);
    const [closest] = nearestPieces(model.attributes[j], values[j], strip, now).sort((a, b) => a.cost - b.cost);
    if (closest && closest.cost < own) found = found.with(j, closest.value);
  }
  return changeTo(model, values, found, cost(found), (row) => position(row) !== now);
}

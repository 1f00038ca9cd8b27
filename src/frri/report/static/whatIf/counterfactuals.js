/**
 * What would change the decision about a row: for every other class the nearest value of a single
 * attribute, by the strips, and where no single attribute is enough several, found by search.
 *
 * Changes are measured in shares of an attribute's training range; another category, and a value for a
 * missing one, cost 1. Of equal ones the first attribute is taken, as in Python.
 */

import { explain, predict } from "../core/evaluator.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { caseOf, classStrip } from "./classStrips.js";
import { sum, widthOf } from "../core/format.js";
import { usedColumns } from "../model/ranking.js";

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
 * @param {function(): boolean} [isStale] true gives up
 * @returns {Promise<?Map<number, object[]>>} pieces by attribute; null if given up
 */
export async function allClassStrips(model, values, isStale = () => false) {
  const one = caseOf(model, values);
  const strips = new Map();
  const finished = await forEachYielding(usedColumns(model), (j) => void strips.set(j, classStrip(one, j)), isStale);
  return finished ? strips : null;
}

/**
 * @typedef {{values: Array, changed: number[], prediction: *, rule: ?number, silent: boolean, cost: number}} Change
 *   with the rule that would decide, from 1, and whether it would only be the nearest
 *
 * The nearest changes of single attributes: of each attribute the nearest one towards every other class.
 *
 * @param {object} model
 * @param {Array} values
 * @param {Map<number, object[]>} strips
 * @param {Set<number>} locked attributes that stay as they are
 * @param {number} most
 * @returns {{found: Change[], reached: Set<*>}} the nearest first, and the classes that single attributes lead to
 */
export function singleChanges(model, values, strips, locked, most) {
  const now = model.classes.indexOf(predict(model, values));
  const candidates = new Map();
  for (const [j, pieces] of strips) {
    if (locked.has(j)) continue;
    const attribute = model.attributes[j];
    for (const { value, decided } of nearestPieces(attribute, values[j], pieces, now)) {
      const cost = costOf(attribute, values[j], value);
      const key = `${j} ${decided}`;
      if (!(cost >= candidates.get(key)?.cost)) candidates.set(key, { j, value, cost, decided });
    }
  }
  const order = [...candidates.values()].sort((a, b) => a.cost - b.cost);
  const found = order.slice(0, most).map(({ j, value, cost, decided }) => {
    const leads = (x) => predict(model, values.with(j, x)) === model.classes[decided];
    return changeTo(model, values.with(j, readable(model.attributes[j], values[j], value, leads)), [j], cost);
  });
  return { found, reached: new Set(order.map(({ decided }) => model.classes[decided])) };
}

function changeTo(model, values, changed, cost) {
  const { prediction, rule, fired } = explain(model, values);
  return { values, changed, prediction, rule, silent: !fired.length && rule !== null, cost };
}

/** For each other class the value of the nearest piece that is decided so. */
function nearestPieces(attribute, value, pieces, now) {
  const others = pieces.filter(({ decided }) => decided !== now);
  if (attribute.categories)
    return others.map(({ from, decided }) => ({ value: attribute.categories[from], decided }));
  if (value === null) return others.map(({ from, to, decided }) => ({ value: (from + to) / 2, decided }));
  return others.map(({ from, to, decided }) => ({ value: value < from ? from : to, decided }));
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
 * @param {object} model
 * @param {Array} values
 * @param {object} rows embedded rows
 * @param {ArrayLike<number>} decided the classes decided for them
 * @param {Set<number>} locked
 * @param {function(): boolean} [isStale]
 * @returns {Promise<?Change|undefined>} null if there is none, undefined if given up
 */
export async function severalChanges(model, values, rows, decided, locked, isStale = () => false) {
  const now = predict(model, values);
  const nowIndex = model.classes.indexOf(now);
  /** @type {?{row: Array, distance: number}} */
  let nearest = null;
  const cost = (row) =>
    sum(row.map((value, j) => costOf(model.attributes[j], values[j], value)));
  const others = Array.from({ length: rows.n }, (_, i) => i).filter((i) => decided[i] !== nowIndex);
  const finished = await forEachYielding(
    others,
    (i) => {
      const row = rows.at(i).map((value, j) => (locked.has(j) ? values[j] : value));
      if (row.includes(null)) return;
      const distance = cost(row);
      if (nearest && distance >= nearest.distance) return;
      if (!locked.size || predict(model, row) !== now) nearest = { row, distance };
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
    if (predict(model, undone) !== now) found = undone;
  }
  // Then each value goes back as far as it can while the others stay.
  const changed = found.flatMap((value, j) => (value === values[j] ? [] : [j]));
  for (const j of changed) {
    const attribute = model.attributes[j];
    const leads = (value) => predict(model, found.with(j, value)) !== now;
    const price = ({ value }) => costOf(attribute, values[j], value);
    const [closest] = nearestPieces(attribute, values[j], classStrip(caseOf(model, found), j), nowIndex)
      .filter((one) => price(one) < price({ value: found[j] }) && leads(one.value))
      .sort((a, b) => price(a) - price(b));
    if (closest) found = found.with(j, readable(attribute, values[j], closest.value, leads));
  }
  return changeTo(model, found, changed, cost(found));
}

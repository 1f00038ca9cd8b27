/**
 * How well the rules of a state decide the embedded rows: whatever the page says about it, edited or
 * not, is counted here or came with the facts about the model as it was learned.
 */

import { isolate } from "../core/dom.js";
import { shared } from "./rows.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { percentText } from "../core/format.js";

/** Sizes at which the accuracy is measured, and rows that are enough for it. */
const CURVE_POINTS = 25;
const ENOUGH_ROWS = 1000;

/** Of more classes, only the one recognised least and the one recognised most are named. */
const MOST_CLASSES = 4;

/** Standard deviations to either side that hold 95 % of a normal distribution. */
const Z = 1.959963984540054;

/**
 * Wilson's 95 % interval for a share; 0 to 1 without trials.
 *
 * @param {number} hits
 * @param {number} trials
 * @returns {[number, number]}
 */
export function wilson(hits, trials) {
  if (trials <= 0) return [0, 1];
  const share = hits / trials;
  const centre = share + (Z * Z) / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share)) / trials + (Z * Z) / (4 * trials * trials));
  const scale = 1 + (Z * Z) / trials;
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)];
}

/**
 * Rules and conditions of a state; with rows, their coverage; with classes, the accuracy; with numbers, how far off
 * they are.
 *
 * @param {object} state
 * @param {?object} rows
 * @returns {{rules: number, conditions: number, coverage?: number, accuracy?: number, mae?: number, rmse?: number,
 *   r2?: number}}
 */
export function metrics(state, rows) {
  const conditions = state.entries.reduce((sum, { rule }) => sum + rule.if.length, 0);
  const found = { rules: state.entries.length, conditions };
  if (!rows) return found;
  let right = 0;
  let covered = 0;
  for (let i = 0; i < rows.n; i += 1) {
    if (state.counts[i]) covered += 1;
    if (rows.classes && state.decided[i] === rows.classes[i]) right += 1;
  }
  found.coverage = covered / rows.n;
  if (rows.truth) return { ...found, ...errorsOf(state, rows) };
  if (rows.classes) found.accuracy = right / rows.n;
  return found;
}

/** How far off the predicted numbers are: mean absolute and root mean squared error, and R squared. */
function errorsOf({ answers }, { truth, n }) {
  const mean = truth.reduce((sum, number) => sum + number, 0) / n;
  let [size, squares, spread] = [0, 0, 0];
  for (let i = 0; i < n; i += 1) {
    size += Math.abs(answers[i] - truth[i]);
    squares += (answers[i] - truth[i]) ** 2;
    spread += (truth[i] - mean) ** 2;
  }
  const r2 = spread > 0 ? 1 - squares / spread : Number(!squares);
  return { mae: size / n, rmse: Math.sqrt(squares / n), r2 };
}

/**
 * Accuracy and confusion of the state that is shown: of all rows as learned, of the embedded ones
 * after an edit.
 *
 * @param {object} store
 * @returns {?{accuracy: number, balanced_accuracy: number, confusion: number[][], n: number}}
 */
export function performanceOf({ facts, rows, state, isEdited }) {
  if (!facts.performance) return null;
  if (!isEdited) return { ...facts.performance, n: facts.data.n_rows };
  const confusion = confusionOf(state, rows, facts.model.classes.length);
  const recalls = recallsOf(confusion, facts.model.classes.length)
    .filter(({ rows: own }) => own)
    .map(({ hits, rows: own }) => hits / own);
  return {
    accuracy: metrics(state, rows).accuracy,
    balanced_accuracy: recalls.reduce((a, b) => a + b, 0) / recalls.length,
    confusion,
    n: rows.n,
  };
}

/**
 * How many embedded rows of each class are decided as which: triples of class, decision and rows.
 *
 * @param {object} state
 * @param {object} rows with classes
 * @param {number} n classes
 * @returns {number[][]}
 */
export function confusionOf(state, rows, n) {
  const counts = new Map();
  for (let i = 0; i < rows.n; i += 1) {
    const cell = rows.classes[i] * n + state.decided[i];
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return [...counts].map(([cell, count]) => [Math.floor(cell / n), cell % n, count]);
}

/**
 * How good the first 0, 1, 2, ... rules are, in the library's order.
 *
 * @param {object} store with rows that have classes or numbers
 * @param {function(): boolean} isStale true gives up
 * @returns {Promise<?Array<{n_rules: number, accuracy?: number, mae?: number, coverage: number}>>}
 */
export async function goodnessBySize(store, isStale) {
  const [order] = orderOf(store);
  const curve = [];
  for (const size of sizes(order.length)) {
    const point = await goodnessAt(store, size, isStale);
    if (!point) return null;
    curve.push(point);
  }
  return curve;
}

/**
 * The accuracy of the first so many rules, or by how much their numbers are off on average.
 *
 * @param {object} store
 * @param {number} size
 * @param {function(): boolean} isStale
 * @returns {Promise<?{n_rules: number, accuracy?: number, mae?: number, coverage: number}>}
 */
export async function goodnessAt(store, size, isStale) {
  const { rows, rowCache, state } = store;
  const [order, always] = orderOf(store);
  const n = Math.min(rows.n, ENOUGH_ROWS);
  const chosen = Array.from({ length: n }, (_, k) => Math.floor((k * rows.n) / n));
  const kept = [...order.slice(0, size), ...always];
  const judge = rowCache.judge({ ...state.model, rules: kept.map((entry) => entry.rule) });
  let [right, off, covered] = [0, 0, 0];
  const finished = await forEachYielding(
    chosen,
    (i) => {
      const { decided, answer } = judge(i);
      if (rows.truth) off += Math.abs(answer - rows.truth[i]);
      else if (decided === rows.classes[i]) right += 1;
      if (kept.some((entry) => entry.cover[i])) covered += 1;
    },
    isStale,
  );
  const good = rows.truth ? { mae: off / n } : { accuracy: right / n };
  return finished ? { n_rules: kept.length, ...good, coverage: covered / n } : null;
}

/** At most so many numbers from 0 to n, evenly spaced; halves go to the even one, as in Python. */
function sizes(n) {
  const found = new Set();
  for (let k = 0; k < CURVE_POINTS; k += 1) {
    const exact = (k * n) / (CURVE_POINTS - 1);
    const low = Math.floor(exact);
    found.add(exact - low === 0.5 ? low + (low % 2) : Math.round(exact));
  }
  return [...found];
}

const orders = new WeakMap();

/**
 * Of each class the share that is decided rightly; of many classes the least and the most. As Python has it.
 *
 * @param {object} model
 * @param {number[][]} confusion
 * @returns {string}
 */
export function recognisedText({ classes }, confusion) {
  const shares = recallsOf(confusion, classes.length)
    .map(({ hits, rows }, c) => [c, hits / rows, rows])
    .filter(([, , rows]) => rows);
  const isMany = shares.length > MOST_CLASSES;
  const sorted = isMany ? [...shares].sort((a, b) => a[1] - b[1]) : shares;
  const told = isMany ? [sorted[0], sorted.at(-1)] : sorted;
  return told.map(([c, share]) => `of ${isolate(classes[c])}: ${percentText(share)}`).join(isMany ? " to " : ", ");
}

/**
 * For each class how many rows are of it, and how many of them are decided rightly.
 *
 * @param {number[][]} confusion
 * @param {number} n classes
 * @returns {Array<{rows: number, hits: number}>}
 */
export function recallsOf(confusion, n) {
  const found = Array.from({ length: n }, () => ({ rows: 0, hits: 0 }));
  for (const [truth, decided, count] of confusion) {
    found[truth].rows += count;
    if (truth === decided) found[truth].hits += count;
  }
  return found;
}

/**
 * The rules of the state in the order in which they are added, and those that are always there.
 *
 * @param {object} store
 * @returns {[object[], object[]]}
 */
export function orderOf({ state, rows }) {
  if (!orders.has(state)) orders.set(state, findOrder(state, rows));
  return orders.get(state);
}

function findOrder({ model, entries }, rows) {
  if (model.semantics.name === "first-match") {
    const last = entries.length && !entries.at(-1).rule.if.length ? 1 : 0;
    const end = entries.length - last;
    return [entries.slice(0, end), entries.slice(end)];
  }
  const left = [...entries];
  const order = [];
  const uncovered = new Uint8Array(rows.n).fill(1);
  // What a rule adds never grows: only the one that promises most needs to be counted again.
  const gains = left.map(({ cover }) => shared(cover, uncovered));
  while (left.length) {
    const most = gains.reduce((a, b) => Math.max(a, b), 0);
    if (!most) break;
    const place = gains.indexOf(most);
    gains[place] = shared(left[place].cover, uncovered);
    if (gains[place] < most) continue;
    gains.splice(place, 1);
    const [next] = left.splice(place, 1);
    order.push(next);
    for (let i = 0; i < rows.n; i += 1) if (next.cover[i]) uncovered[i] = 0;
  }
  return [[...order, ...left], []];
}

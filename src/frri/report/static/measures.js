/**
 * How well the rules of a state decide the embedded rows: whatever the page says about it, edited or
 * not, is counted here or came with the facts about the model as it was learned.
 */

import { predict } from "./evaluator.js";
import { shared } from "./rows.js";
import { inSlices } from "./slices.js";

/** Sizes at which the accuracy is measured, and rows that are enough for it. */
const CURVE_POINTS = 25;
const ENOUGH_ROWS = 1000;

/**
 * Rules and conditions of a state; with rows, their coverage; with classes, the accuracy.
 *
 * @param {object} state
 * @param {?object} rows
 * @returns {{rules: number, conditions: number, coverage?: number, accuracy?: number}}
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
  if (rows.classes) found.accuracy = right / rows.n;
  return found;
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
  const n = facts.model.classes.length;
  const counts = new Map();
  for (let i = 0; i < rows.n; i += 1) {
    const cell = rows.classes[i] * n + state.decided[i];
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const confusion = [...counts].map(([cell, count]) => [Math.floor(cell / n), cell % n, count]);
  const members = new Map();
  const hits = new Map();
  for (const [truth, decided, count] of confusion) {
    members.set(truth, (members.get(truth) ?? 0) + count);
    if (truth === decided) hits.set(truth, count);
  }
  const recalls = [...members].map(([truth, count]) => (hits.get(truth) ?? 0) / count);
  return {
    accuracy: metrics(state, rows).accuracy,
    balanced_accuracy: recalls.reduce((a, b) => a + b, 0) / recalls.length,
    confusion,
    n: rows.n,
  };
}

/**
 * Accuracy and coverage with the first 0, 1, 2, ... rules, in the library's order.
 *
 * @param {object} state
 * @param {object} rows with classes
 * @param {function(): boolean} isStale true gives up
 * @returns {Promise<?Array<{n_rules: number, accuracy: number, coverage: number}>>}
 */
export async function accuracyBySize(state, rows, isStale) {
  const { classes } = state.model;
  const [order, always] = orderOf(state, rows);
  const n = Math.min(rows.n, ENOUGH_ROWS);
  const chosen = Array.from({ length: n }, (_, k) => Math.floor((k * rows.n) / n));
  const curve = [];
  for (const size of sizes(order.length)) {
    const kept = [...order.slice(0, size), ...always];
    const model = { ...state.model, rules: kept.map((entry) => entry.rule) };
    let right = 0;
    let covered = 0;
    const finished = await inSlices(
      chosen,
      (i) => {
        if (predict(model, rows.at(i)) === classes[rows.classes[i]]) right += 1;
        if (kept.some((entry) => entry.cover[i])) covered += 1;
      },
      isStale,
    );
    if (!finished) return null;
    curve.push({ n_rules: kept.length, accuracy: right / n, coverage: covered / n });
  }
  return curve;
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

/** The rules in the order in which they are added, and those that are always there. */
function orderOf({ model, entries }, rows) {
  if (model.semantics.name === "first-match") {
    const last = entries.length && !entries.at(-1).rule.if.length ? 1 : 0;
    const end = entries.length - last;
    return [entries.slice(0, end), entries.slice(end)];
  }
  const left = [...entries];
  const order = [];
  const uncovered = new Uint8Array(rows.n).fill(1);
  while (left.length) {
    const gains = left.map(({ cover }) => shared(cover, uncovered));
    const most = Math.max(...gains);
    if (!most) break;
    const [next] = left.splice(gains.indexOf(most), 1);
    order.push(next);
    for (let i = 0; i < rows.n; i += 1) if (next.cover[i]) uncovered[i] = 0;
  }
  return [[...order, ...left], []];
}

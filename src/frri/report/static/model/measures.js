/**
 * How well the rules of a state decide the embedded rows: whatever the page says about it, edited or
 * not, is counted here or came with the facts about the model as it was learned.
 */

import { counted, sum } from "../core/format.js";
import { kindOf } from "./kind.js";

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
  const conditions = sum(state.entries.map(({ rule }) => rule.if.length));
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
  const mean = sum(truth) / n;
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
  return { ...accuraciesOf(confusion, facts.model.classes.length), confusion, n: rows.n };
}

/**
 * Some rows as such: training rows are named.
 *
 * @param {object} facts
 * @param {number} n
 * @returns {string} "768 training rows"
 */
export function namedRows({ data, overview }, n) {
  const whose = { true: "training row", false: "new row", null: "given row" }[overview.is_training];
  return counted(n, n < data.n_rows ? `embedded ${whose}` : whose);
}

/**
 * The rows that results are computed on, with a caution where the model was learned from them.
 *
 * @param {object} facts
 * @param {number} n
 * @returns {string}
 */
export function basisText(facts, n) {
  const caution = `; expect ${kindOf(facts.model).isNumber ? "larger errors" : "lower values"} on new data`;
  return `Computed on the ${namedRows(facts, n)}${facts.overview.is_training ? caution : ""}.`;
}

/**
 * The held-out estimate of the rules as learned, with its basis; null where there is none or the rows are new.
 *
 * @param {object} store
 * @returns {?{measure: string, score: number, error?: number, confusion?: number[][], rows: number, basis: string}}
 */
export function heldOut({ facts: { overview }, isEdited }) {
  const found = overview.evaluation;
  if (!found || isEdited || overview.is_training === false) return null;
  return { ...found, basis: `on new data (${found.folds > 1 ? `${found.folds}-fold cross-validation` : "held-out rows"})` };
}

/**
 * Accuracy, and its mean over the classes.
 *
 * @param {number[][]} cells triples of class, decision and rows
 * @param {number} n classes
 * @returns {{accuracy: number, balanced_accuracy: number}}
 */
export function accuraciesOf(cells, n) {
  const found = recallsOf(cells, n).filter(({ rows }) => rows);
  const total = (of) => sum(found.map(of));
  return {
    accuracy: total(({ hits }) => hits) / total(({ rows }) => rows),
    balanced_accuracy: total(({ hits, rows }) => hits / rows) / found.length,
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

/** For each class how many rows are of it, and how many of them are decided rightly. */
function recallsOf(confusion, n) {
  const found = Array.from({ length: n }, () => ({ rows: 0, hits: 0 }));
  for (const [truth, decided, count] of confusion) {
    found[truth].rows += count;
    if (truth === decided) found[truth].hits += count;
  }
  return found;
}

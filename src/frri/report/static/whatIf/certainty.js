/**
 * How sure an answer is, as one number: a calibrated probability, or else how many of the rows that the same rule
 * decides are of its class.
 */

import { probabilities } from "../core/evaluator.js";
import { counted, percentText } from "../core/format.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { isCalibrated, kindOf, shownNumber } from "../model/kind.js";

/** Rows whose probability is at most so far away are like a row. */
const NEAR = 0.05;
/** Of the intervals that are known, the widest one up to this level is shown. */
const LEVEL = 0.9;

const found = new WeakMap();

/**
 * @param {object} store
 * @param {Array} values
 * @param {object} explained
 * @param {function(): boolean} isStale
 * @returns {Promise<import("../model/ruleText.js").Parts>} empty where nothing is known
 */
export async function certaintyParts(store, values, explained, isStale) {
  const { model } = store.state;
  const { prediction } = explained;
  if (kindOf(model).isNumber) return intervalParts(store, prediction);
  if (!isCalibrated(model)) return countParts(store, explained);
  const c = model.classes.indexOf(prediction);
  const own = probabilities(model, values)[c];
  const sure = [`Probability ${percentText(own)}`];
  if (!store.rows?.classes) return [...sure, "."];
  const known = await probabilitiesOf(store, isStale);
  if (!known) return [];
  let [rows, right] = [0, 0];
  for (let i = 0; i < known.length; i += 1) {
    if (store.state.decided[i] !== c || Math.abs(known[i] - own) > NEAR) continue;
    rows += 1;
    if (store.rows.classes[i] === c) right += 1;
  }
  if (!rows) return [...sure, "."];
  const basis = store.facts.overview.is_training === false ? "row" : "given row";
  return [...sure, `: of ${counted(rows, basis)} with about this probability ${right.toLocaleString("en")} ${right === 1 ? "is" : "are"} `, { name: prediction }, "."];
}

/** The probability of the class that each embedded row is decided as; null if given up. */
async function probabilitiesOf({ state, rows }, isStale) {
  if (found.has(state)) return found.get(state);
  const known = new Float64Array(rows.n);
  const isWhole = await forEachYielding(
    known.keys(),
    (i) => {
      known[i] = probabilities(state.model, rows.at(i))[state.decided[i]];
    },
    isStale,
  );
  if (isWhole) found.set(state, known);
  return isWhole ? known : null;
}

/** Rows that are decided by the same rule; where none decides alone, rows that are decided so. */
function countParts({ facts, state, rows }, { prediction, rule, fired }) {
  const { model } = state;
  const label = { name: prediction };
  const training = facts.overview.is_training ? "training row" : "row";
  const isRight = (right) => ` ${right.toLocaleString("en")} ${right === 1 ? "is" : "are"} `;
  if (kindOf(model).isAlone) {
    const entry = rule !== null && fired.length ? state.entries[rule - 1] : null;
    const decides = entry && state.decides?.get(entry.number);
    if (decides?.rows && decides.right !== null)
      return [
        `Of ${counted(decides.rows, training)} that rule ${entry.number} decides`, isRight(decides.right), label,
        ` (${percentText(decides.right / decides.rows)}).`,
      ];
    const support = entry?.known.support;
    const covered = support?.reduce((sum, one) => sum + one, 0);
    if (!covered) return fired.length ? [] : ["No rule covers it: how sure this is, is unknown."];
    const right = support[model.classes.indexOf(prediction)];
    return [`Of ${counted(covered, "row")} that rule ${entry.number} covers`, isRight(right), label, ` (${percentText(right / covered)}).`];
  }
  if (!rows?.classes) return [];
  const c = model.classes.indexOf(prediction);
  const own = [...state.decided.keys()].filter((i) => state.decided[i] === c);
  const right = own.filter((i) => rows.classes[i] === c).length;
  if (!own.length) return [];
  return [`Of ${counted(own.length, training)} decided so`, isRight(right), label, ` (${percentText(right / own.length)}).`];
}

/** Of the rules as learned; what was held back says nothing about edited ones. */
function intervalParts({ facts, state }, prediction) {
  const kept = state.model.about.intervals?.half_widths;
  // A file may say anything.
  const known = Array.isArray(kept)
    ? kept.filter((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite))
    : [];
  if (!known.length) return [];
  const [level, width] = known.filter(([one]) => one <= LEVEL).at(-1) ?? known[0];
  const [low, high] = [prediction - width, prediction + width].map((end) => shownNumber(facts, end));
  return [`${percentText(level)} interval: ${low} to ${high}`];
}

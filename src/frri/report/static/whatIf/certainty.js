/**
 * How sure an answer is, as one number: a calibrated probability, or else how many of the rows that the same rule
 * decides are of its class.
 */

import { probabilities } from "../core/evaluator.js";
import { counted, percentText, sum, whole } from "../core/format.js";
import { isCalibrated, kindOf, shownNumber } from "../model/kind.js";

/** Of the intervals that are known, the widest one up to this level is shown. */
const LEVEL = 0.9;

/**
 * @param {object} store
 * @param {object} explained what explanationOf returned
 * @returns {import("../model/ruleText.js").Parts} empty where nothing is known
 */
export function certaintyParts(store, explained) {
  const { model, values, prediction } = explained;
  if (kindOf(model).isNumber) return intervalParts(store, prediction);
  if (!isCalibrated(model)) return countParts(store, explained);
  const own = probabilities(model, values)[model.classes.indexOf(prediction)];
  return [`Probability ${percentText(own)}: about ${Math.round(100 * own)} of 100 such rows are `, { name: prediction }, "."];
}

/** Rows that are decided by the same rule; where none decides alone, rows that are decided so. */
function countParts({ facts, state, rows }, { model, prediction, rule, fired }) {
  const training = facts.overview.is_training ? "training row" : "row";
  const c = model.classes.indexOf(prediction);
  if (!kindOf(model).isAlone) {
    if (!rows?.classes) return [];
    const own = [...state.decided.keys()].filter((i) => state.decided[i] === c);
    return count(own.length, own.filter((i) => rows.classes[i] === c).length, training, "decided so");
  }
  if (!fired.length) return ["No rule covers it: how sure this is, is unknown."];
  const { number, known } = state.entries[rule - 1];
  const decides = state.decides?.get(number);
  if (decides && decides.right !== null) return count(decides.rows, decides.right, training, `that rule ${number} decides`);
  return known.support ? count(sum(known.support), known.support[c], "row", `that rule ${number} covers`) : [];

  function count(n, right, noun, which) {
    if (!n) return [];
    const isRight = ` ${whole(right)} ${right === 1 ? "is" : "are"} `;
    return [`Of ${counted(n, noun)} ${which}${isRight}`, { name: prediction }, ` (${percentText(right / n)}).`];
  }
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

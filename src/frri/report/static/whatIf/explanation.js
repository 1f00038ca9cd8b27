/** The numbers behind an answer: which rules fire and how far they hold, and what each of them counts or adds. */

import { degrees, explain, scores } from "../core/evaluator.js";
import { sum } from "../core/format.js";
import { kindOf, partsOf } from "../model/kind.js";

/**
 * @param {object} model
 * @param {Array} values of a row, as the evaluator takes them
 * @returns {{model: object, values: Array, prediction: *, rule: ?number, fired: number[], held: number[],
 *   added: number[], base?: number, total?: number, second?: *}} the answer, the rule that decides and those that fire,
 *   from 1; for each rule the degree to which it holds and what it counts or adds, of numbers its fraction of the mean;
 *   where rules add up, the base, the sum, and the class over which it is the lead
 */
export function explanationOf(model, values) {
  const explained = explain(model, values);
  const held = degrees(model, values);
  return { model, values, ...explained, held, ...partsFor(model, values, held, explained) };
}

function partsFor(model, values, held, { prediction, rule }) {
  const { adds, isNumber } = kindOf(model);
  if (adds) return partsOf(model, held, scores(model, values), prediction);
  const { classes, costs, rules } = model;
  const added = rules.map(({ weight, then }, r) => weight * held[r] * (costs?.[classes.indexOf(then)] ?? 1));
  const total = sum(added);
  if (!isNumber) return { added };
  return { added: added.map((count, r) => (total > 0 ? count / total : Number(r + 1 === rule))) };
}

/** The numbers of the rows that a rule covers, beside those of all rows. */

import { h } from "../core/dom.js";
import { shownMove, shownNumber } from "../model/regression.js";
import { counted } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} entry the rule
 * @returns {HTMLElement|HTMLElement[]}
 */
export function coveredNumbers({ rows, facts, state }, { cover }) {
  if (!rows || !rows.truth) return h("p", { class: "muted" }, "Unknown without rows whose number is known.");
  const covered = [...rows.truth.keys()].filter((i) => cover[i]);
  if (!covered.length) return h("p", { class: "muted" }, "It covers no row.");
  const show = (value) => shownNumber(facts, value);
  const truth = covered.map((i) => rows.truth[i]);
  const wrong = covered.map((i) => state.answers[i] - rows.truth[i]);
  const basis = facts.data.sampled ? "embedded row" : "row";
  return [
    h(
      "p",
      {},
      `The ${counted(covered.length, basis)} that it covers are ${show(mean(truth))} on average, ${show(Math.min(...truth))} to ${show(Math.max(...truth))}; all rows are ${show(mean([...rows.truth]))}.`,
    ),
    h(
      "p",
      {},
      `Where it holds, all rules together are off by ${show(mean(wrong.map(Math.abs)))} on average, ${shownMove(facts, mean(wrong))} with their signs.`,
    ),
  ];
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

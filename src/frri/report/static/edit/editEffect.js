/** What edits do: figures before and now, and the cases that are decided otherwise. */

import { answerLabel } from "../charts/chart.js";
import { actionButton, h } from "../core/dom.js";
import { metrics } from "../model/measures.js";
import { shownNumber } from "../model/regression.js";
import { counted, decimal } from "../core/format.js";

const MOST_CASES = 8;
/** Numbers that differ by less than this share of their range are the same but for rounding. */
const SAME = 1e-9;

/**
 * Figures before and after the edits.
 *
 * @param {object} store
 * @param {object} [state] the one that is shown, or one that is only tried
 * @returns {[object, object]}
 */
export function bothMetrics({ original, state: shown, rows }, state = shown) {
  return [metrics(original, rows), metrics(state, rows)];
}

/**
 * @param {number} share
 * @returns {string}
 */
export function percentOf(share) {
  return `${decimal(100 * share)} %`;
}

/**
 * @param {object} store
 * @param {object} [state]
 * @returns {Array}
 */
export function effectTable(store, state = store.state) {
  const [before, after] = bothMetrics(store, state);
  const number = (value) => shownNumber(store.facts, value);
  const row = (title, key, text, better = 1) => {
    if (after[key] === undefined) return null;
    const difference = better * (after[key] - before[key]);
    const sign = difference > 0 ? "up" : difference < 0 ? "down" : "same";
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, title),
      h("td", { class: "number" }, text(before[key])),
      h("td", { class: `number ${sign}` }, text(after[key])),
    );
  };
  const { data } = store.facts;
  return [
    h(
      "table",
      { class: "effects" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          h("th", { scope: "col", class: "number" }, "before"),
          h("th", { scope: "col", class: "number" }, "now"),
        ),
      ),
      h(
        "tbody",
        {},
        row("Accuracy", "accuracy", percentOf),
        row("Off by, on average", "mae", number, -1),
        row("Root mean squared error", "rmse", number, -1),
        row("Coverage", "coverage", percentOf),
        row("Rules", "rules", String),
        row("Conditions", "conditions", String),
      ),
    ),
    h(
      "p",
      { class: "muted" },
      data
        ? `On ${data.sampled ? "a sample of " : ""}${counted(data.n_embedded, "row")}.`
        : "Give the report data to see accuracy and coverage.",
    ),
  ];
}

/**
 * The rows that are answered otherwise than by the rules as learned: corrected, broken, and others; numbers that are
 * nearer to the truth, farther from it, and others, those that moved most first.
 *
 * @param {object} store
 * @returns {Object<string, number[]>}
 */
export function changedCases({ rows, state, original, facts }) {
  if (rows.answers) return movedCases(rows, state.answers, original.answers, facts.numbers);
  const found = { corrected: [], broken: [], other: [] };
  for (let i = 0; i < rows.n; i += 1) {
    if (state.decided[i] === original.decided[i]) continue;
    const truth = rows.classes ? rows.classes[i] : null;
    if (truth === state.decided[i]) found.corrected.push(i);
    else if (truth === original.decided[i]) found.broken.push(i);
    else found.other.push(i);
  }
  return found;
}

function movedCases({ n, truth }, now, before, { low, high }) {
  const found = { nearer: [], farther: [], other: [] };
  const moved = (i) => Math.abs(now[i] - before[i]);
  for (let i = 0; i < n; i += 1) {
    if (!(moved(i) > SAME * (high - low || 1))) continue;
    const gained = truth ? Math.abs(before[i] - truth[i]) - Math.abs(now[i] - truth[i]) : 0;
    found[gained > 0 ? "nearer" : gained < 0 ? "farther" : "other"].push(i);
  }
  for (const cases of Object.values(found)) cases.sort((a, b) => moved(b) - moved(a));
  return found;
}

/**
 * The same as lists of links to What-if.
 *
 * @param {object} store
 * @param {object} actions
 * @returns {Array}
 */
export function changedList(store, actions) {
  if (!store.rows || !store.isEdited) return [h("p", { class: "muted" }, "None yet.")];
  const { classes } = store.facts.model;
  const answer = ({ answers, decided }, i) => answerLabel(store, answers ? answers[i] : classes[decided[i]]);
  const found = Object.entries(changedCases(store)).filter(([, cases]) => cases.length);
  if (!found.length) return [h("p", { class: "muted" }, "No row is answered otherwise.")];
  return found.flatMap(([name, cases]) => [
    h("h3", { class: `changed-${name}` }, `${cases.length.toLocaleString("en")} ${name}`),
    h(
      "ul",
      { class: "changed-cases" },
      cases.slice(0, MOST_CASES).map((i) =>
        h(
          "li",
          {},
          actionButton(`Row ${store.rows.name(i)}`, () => actions.tryRow(i), "link"),
          answer(store.original, i),
          " → ",
          answer(store.state, i),
        ),
      ),
      cases.length > MOST_CASES
        ? h("li", { class: "muted" }, `and ${cases.length - MOST_CASES} more`)
        : null,
    ),
  ]);
}

/** What edits do: figures before and now, and the cases that are decided otherwise. */

import { classLabel } from "./chart.js";
import { actionButton, h } from "./dom.js";
import { metrics } from "./measures.js";
import { counted, decimal } from "./words.js";

const MOST_CASES = 8;

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
  const row = (title, key, text) => {
    if (after[key] === undefined) return null;
    const difference = after[key] - before[key];
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
 * The rows that are decided otherwise than by the rules as learned: corrected, broken, and others.
 *
 * @param {object} store
 * @returns {Object<string, number[]>}
 */
export function changedCases({ rows, state, original }) {
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
  const found = Object.entries(changedCases(store)).filter(([, cases]) => cases.length);
  if (!found.length) return [h("p", { class: "muted" }, "No row is decided otherwise.")];
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
          classLabel(store, classes[store.original.decided[i]]),
          " → ",
          classLabel(store, classes[store.state.decided[i]]),
        ),
      ),
      cases.length > MOST_CASES
        ? h("li", { class: "muted" }, `and ${cases.length - MOST_CASES} more`)
        : null,
    ),
  ]);
}

/** What stands beside the matrix: what rules decide or carry and how well, otherwise what they cover. */

import { roleOf } from "../model/contributions.js";
import { classColour, decidedBar, ownSeries } from "../charts/chart.js";
import { h } from "../core/dom.js";
import { performanceOf, wilson } from "../model/measures.js";
import { addsNumbers, predictsNumbers } from "../model/regression.js";
import { coverageOf } from "../model/store.js";
import { counted, percentText, shareText, weightName } from "../core/format.js";

/**
 * @param {object} store
 * @returns {string[]} keys of the columns
 */
export function statKeys(store) {
  const { model } = store.facts;
  const known = store.state.decides ? ["decides"] : [];
  const last = store.facts.stability ? ["returns"] : [];
  if (predictsNumbers(model))
    return [...known, "coverage", ...(addsNumbers(model) ? [] : ["confidence"]), ...last];
  if (known.length) return ["decides", "right", ...last];
  return ["coverage", "precision", "confidence", ...last];
}

/**
 * @param {object} store
 * @param {object} entry
 * @returns {HTMLElement[]} the cells of a rule
 */
export function statCells(store, entry) {
  const { known, rule, number } = entry;
  const found = store.state.decides?.get(number);
  const cells = {
    decides: () => decidesCell(store, entry, found),
    right: () => rightCell(found, roleOf(store.facts.model)),
    coverage: () => cell("coverage", "Covers", percentText(coverageOf(entry, store))),
    precision: () => cell("precision", "Precision", shareText(known.precision)),
    confidence: () => cell("confidence", weightName(store.facts.model), shareText(rule.weight)),
    returns: () => cell("returns", "Returns", percentText(known.returns)),
  };
  return statKeys(store).map((key) => cells[key]());
}

/**
 * @param {object} store
 * @returns {?HTMLElement[]} the cells of the rows that are due to no rule; null without any
 */
export function uncoveredCells(store) {
  const { facts, rows, state, isEdited } = store;
  if (!state.decides) return null;
  const of = isEdited ? rows.n : facts.data.n_rows;
  const known = [...state.decides.values()];
  const total = (key) => known.reduce((sum, one) => sum + one[key], 0);
  const performance = predictsNumbers(facts.model) ? null : performanceOf(store);
  const found = {
    rows: of - total("rows"),
    right: performance && Math.round(performance.accuracy * of) - total("right"),
  };
  if (!found.rows) return null;
  const { title } = roleOf(facts.model);
  const cells = {
    decides: () => cell("decides", title, h("span", {}, found.rows.toLocaleString("en"))),
    right: () => rightCell(found, { verb: "is left with" }),
  };
  return statKeys(store).map((key) => (cells[key] ?? (() => cell(key, "", "")))());
}

function decidesCell(store, { rule }, found) {
  const { title, isAlone } = roleOf(store.facts.model);
  const colour = classColour(store.facts, ownSeries(store.facts, rule));
  if (!found.rows) return cell("decides", title, h("span", { class: "muted" }, isAlone ? "nothing" : "0"));
  const decides = cell(
    "decides",
    title,
    h("span", {}, found.rows.toLocaleString("en")),
    decidedBar(
      found.rows / mostDecided(store.state),
      found.right === null ? 1 : found.right / found.rows,
      colour,
    ),
  );
  decides.title = `${percentText(found.rows / found.of)} of ${counted(found.of, "row")}`;
  return decides;
}

function rightCell(found, { verb }) {
  if (!found.rows || found.right === null) return cell("right", "Right", "–");
  const [low, high] = wilson(found.right, found.rows);
  const right = cell(
    "right",
    "Right",
    h("span", {}, percentText(found.right / found.rows)),
    h("span", { class: "muted interval" }, `${Math.round(100 * low)}–${Math.round(100 * high)}`),
  );
  right.title = `${found.right.toLocaleString("en")} of ${counted(found.rows, "row")} that it ${verb}; 95 % interval ${percentText(low)} to ${percentText(high)}`;
  return right;
}

/** The rows decided by the rule that decides most: bars are shares of them. */
function mostDecided(state) {
  if (!largest.has(state))
    largest.set(state, Math.max(...[...state.decides.values()].map(({ rows }) => rows), 1));
  return largest.get(state);
}
const largest = new WeakMap();

/**
 * @param {string} key of the column
 * @param {string} label for narrow screens, where it stands above
 * @param {...*} children
 * @returns {HTMLElement}
 */
export function cell(key, label, ...children) {
  return h("td", { role: "cell", class: `col-${key}`, "data-label": label }, children);
}

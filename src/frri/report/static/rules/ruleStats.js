/** What stands beside a rule: how many rows it decides and how well, otherwise how many it covers. */

import { classColour, decidedBar, rate } from "../charts/chart.js";
import { counted, percentText, shareText, sum, whole } from "../core/format.js";
import { h, span } from "../core/dom.js";
import { kindOf, ownSeries } from "../model/kind.js";
import { performanceOf, wilson } from "../model/measures.js";
import { coverageOf } from "../model/store.js";

/**
 * @param {object} store
 * @returns {string[]} keys of the columns
 */
export function statKeys({ facts, state }) {
  const last = facts.stability ? ["returns"] : [];
  if (state.decides) return ["decides", "right", ...last];
  return ["coverage", ...(kindOf(facts.model).isAlone ? ["precision"] : []), ...last];
}

/**
 * @param {object} store
 * @param {object} entry
 * @returns {HTMLElement[]} the cells of a rule
 */
export function statCells(store, entry) {
  const { known, number } = entry;
  const found = store.state.decides?.get(number);
  const cells = {
    decides: () => decidesCell(store, entry, found),
    right: () => rightCell(found, "that it decides"),
    coverage: () => cell("coverage", "Covers", percentText(coverageOf(entry, store))),
    precision: () => cell("precision", "Precision", shareText(known.precision)),
    returns: () => cell("returns", "Returns", percentText(known.returns)),
  };
  return statKeys(store).map((key) => cells[key]());
}

/**
 * @param {object} store
 * @returns {?HTMLElement[]} the cells of the rows that no rule covers; null without any
 */
export function uncoveredCells(store) {
  const { facts, rows, state, isEdited } = store;
  if (!state.decides) return null;
  const of = isEdited ? rows.n : facts.data.n_rows;
  const known = [...state.decides.values()];
  const total = (key) => sum(known.map((one) => one[key]));
  const performance = performanceOf(store);
  const found = {
    rows: of - total("rows"),
    right: performance && Math.round(performance.accuracy * of) - total("right"),
  };
  if (!found.rows) return null;
  const cells = {
    decides: () => cell("decides", "Decides", h("span", {}, whole(found.rows))),
    right: () => rightCell(found, "that no rule covers"),
  };
  return statKeys(store).map((key) => (cells[key] ?? (() => cell(key, "", "")))());
}

function decidesCell(store, { rule }, found) {
  const colour = classColour(store.facts, ownSeries(store.facts, rule));
  if (!found.rows) return cell("decides", "Decides", span("muted", "nothing"));
  const bar = decidedBar(
    found.rows / mostDecided(store.state),
    found.right === null ? 1 : found.right / found.rows,
    colour,
  );
  const decides = cell("decides", "Decides", h("span", {}, whole(found.rows)), bar);
  decides.title = `${percentText(found.rows / found.of)} of ${counted(found.of, "row")}`;
  return decides;
}

function rightCell(found, which) {
  if (!found.rows || found.right === null) return cell("right", "Correct", "–");
  const [low, high] = wilson(found.right, found.rows);
  const right = cell("right", "Correct", rate(found.right, found.rows));
  right.title = `${whole(found.right)} of ${counted(found.rows, "row")} ${which}; 95 % interval ${percentText(low)} to ${percentText(high)}`;
  return right;
}

/** The rows decided by the rule that decides most: bars are fractions of them. */
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

/** The effect of edits: measures before and now, by subgroup too, and the rows that are answered otherwise. */

import { answerLabel } from "../charts/chart.js";
import { smallTable } from "../charts/rowTable.js";
import { actionButton, h, muted, named } from "../core/dom.js";
import { counted, percentText, whole } from "../core/format.js";
import { shownNumber } from "../model/kind.js";
import { metrics } from "../model/measures.js";
import { groupsOf } from "../model/rows.js";
import { usedByRank } from "../model/ranking.js";

const MOST_ROWS = 8;
/** Groups whose measures are shown, at most. */
const MOST_GROUPS = 6;
/** Numbers that differ by less than this share of their range are the same but for rounding. */
const SAME = 1e-9;

/**
 * @param {object} store
 * @param {object} base the state to compare with
 * @returns {Array}
 */
export function effectTable(store, base) {
  const { facts, rows, state } = store;
  const [before, after] = [base, state].map((one) => metrics(one, rows));
  const number = (value) => shownNumber(facts, value);
  const line = (title, key, text) => (after[key] === undefined ? null : [title, text(before[key]), text(after[key])]);
  const lines = [
    line("Accuracy", "accuracy", percentText),
    line("Mean absolute error", "mae", number),
    line("Root mean squared error", "rmse", number),
    line("Coverage", "coverage", percentText),
    line("Rules", "rules", String),
    line("Conditions", "conditions", String),
    ...groupLines(store, base),
  ].filter(Boolean);
  const basis = facts.data
    ? `On ${facts.data.sampled ? "a sample of " : ""}${counted(facts.data.n_embedded, "row")}.`
    : "Give the report data to see accuracy and coverage.";
  const table = smallTable(["", "before", "now"], lines);
  table.classList.add("effects");
  return [table, muted(basis)];
}

/** The same measure in each group of the most important column that has few values. */
function groupLines(store, base) {
  const { facts, rows, state } = store;
  if (!rows || !(rows.truth ?? rows.classes)) return [];
  const found = usedByRank(facts)
    .map((column) => ({ j: column, groups: groupsOf(facts, rows, column) }))
    .find(({ groups: own }) => own && own.length <= MOST_GROUPS);
  if (!found) return [];
  const { j, groups } = found;
  const measure = (one, own) => {
    const text = (sum) => (rows.truth ? shownNumber(facts, sum / own.length) : percentText(sum / own.length));
    return text(
      own.reduce((sum, i) => sum + (rows.truth ? Math.abs(one.answers[i] - rows.truth[i]) : Number(one.decided[i] === rows.classes[i])), 0),
    );
  };
  return groups.map(([name, own]) => [
    [named(facts.model.attributes[j].name), " = ", named(name), ` (${counted(own.length, "row")})`],
    measure(base, own),
    measure(state, own),
  ]);
}

/**
 * The rows that are answered otherwise: corrected, broken, and others; numbers that are nearer to the truth, farther
 * from it, and others, those that moved most first.
 */
function changedRows({ rows, state, facts }, base) {
  if (rows.answers) return movedRows(rows, state.answers, base.answers, facts.numbers);
  const found = { corrected: [], broken: [], other: [] };
  for (let i = 0; i < rows.n; i += 1) {
    if (state.decided[i] === base.decided[i]) continue;
    const truth = rows.classes ? rows.classes[i] : null;
    if (truth === state.decided[i]) found.corrected.push(i);
    else if (truth === base.decided[i]) found.broken.push(i);
    else found.other.push(i);
  }
  return found;
}

function movedRows({ n, truth }, now, before, { low, high }) {
  const found = { nearer: [], farther: [], other: [] };
  const moved = (i) => Math.abs(now[i] - before[i]);
  for (let i = 0; i < n; i += 1) {
    if (!(moved(i) > SAME * (high - low || 1))) continue;
    const gained = truth ? Math.abs(before[i] - truth[i]) - Math.abs(now[i] - truth[i]) : 0;
    found[gained > 0 ? "nearer" : gained < 0 ? "farther" : "other"].push(i);
  }
  for (const rows of Object.values(found)) rows.sort((a, b) => moved(b) - moved(a));
  return found;
}

/**
 * The same as lists of links to What-if.
 *
 * @param {object} store
 * @param {object} base
 * @param {object} actions
 * @returns {Array}
 */
export function changedList(store, base, actions) {
  if (!store.rows) return [muted("Unknown without rows.")];
  const { classes } = store.facts.model;
  const answer = ({ answers, decided }, i) => answerLabel(store, answers ? answers[i] : classes[decided[i]]);
  const found = Object.entries(changedRows(store, base)).filter(([, rows]) => rows.length);
  if (!found.length) return [muted("No row is answered otherwise.")];
  return found.flatMap(([name, rows]) => [
    h("h3", `changed-${name}`, `${whole(rows.length)} ${name}`),
    h(
      "ul",
      "changed-rows",
      rows.slice(0, MOST_ROWS).map((i) =>
        h("li", {}, actionButton(`Row ${store.rows.name(i)}`, () => actions.tryRow(i), "link"), answer(base, i), " → ", answer(store.state, i)),
      ),
      rows.length > MOST_ROWS ? h("li", "muted", `and ${rows.length - MOST_ROWS} more`) : null,
    ),
  ]);
}

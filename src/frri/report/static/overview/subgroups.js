/** How good decisions are in the groups of rows that have the same value of a column. */

import { card, h, labelled, muted, named, option, put, scrolling, span } from "../core/dom.js";
import { sum, whole } from "../core/format.js";
import { basisText } from "../model/measures.js";
import { groupsOf } from "../model/rows.js";
import { ranking } from "../model/ranking.js";
import { shownMove, shownNumber } from "../model/kind.js";
import { smallTable } from "../charts/rowTable.js";
import { rate } from "../charts/chart.js";

/** Groups of fewer rows are marked. */
const FEW_ROWS = 30;

/** Classes whose recall has a column, at most. */
const MOST_CLASSES = 4;

/**
 * @param {object} store
 * @returns {?HTMLElement} null where rows have no answers, or no column has few values
 */
export function subgroupsCard(store) {
  const { facts, rows } = store;
  if (!rows || !(rows.truth ?? rows.classes)) return null;
  const columns = ranking(facts)
    .map((j) => ({ j, groups: groupsOf(facts, rows, j) }))
    .filter(({ groups }) => groups);
  if (!columns.length) return null;
  const place = scrolling("Table of subgroups");
  const chosen = h(
    "select",
    { id: "subgroup-column", onchange: draw },
    columns.map(({ j }, k) => option(String(k), facts.model.attributes[j].name)),
  );
  draw();
  return card(
    "Results by subgroup",
    "wide subgroups",
    labelled("Column", chosen),
    place,
    muted(
      `${basisText(facts, rows.n)} Intervals are of 95 %. Groups of fewer than ${FEW_ROWS} rows say little.`,
    ),
  );

  function draw() {
    const { j, groups } = columns[Number(chosen.value)];
    const { titles, cells } = rows.truth ? errors(store) : recalls(store);
    put(
      place,
      smallTable(
        [named(facts.model.attributes[j].name), "Rows", ...titles],
        groups.map(([name, own]) => [
          named(name),
          [whole(own.length), own.length < FEW_ROWS ? span("fails", " few") : null],
          ...cells(own),
        ]),
      ),
    );
  }
}

/** Accuracy, and the recall of each of few classes. */
function recalls({ facts, rows, state }) {
  const classes = facts.model.classes.length > MOST_CLASSES ? [] : [...facts.model.classes.keys()];
  const share = (own) => rate(own.filter((i) => rows.classes[i] === state.decided[i]).length, own.length);
  return {
    titles: ["Accuracy", ...classes.map((c) => ["Recall of ", named(facts.model.classes[c])])],
    cells: (own) => [share(own), ...classes.map((c) => share(own.filter((i) => rows.classes[i] === c)))],
  };
}

/** Mean absolute error, and the mean of the errors with their signs. */
function errors({ facts, rows, state }) {
  const mean = (own, of) => sum(own.map((i) => of(state.answers[i] - rows.truth[i]))) / own.length;
  return {
    titles: ["Mean absolute error", "Mean error"],
    cells: (own) => [shownNumber(facts, mean(own, Math.abs)), shownMove(facts, mean(own, (error) => error))],
  };
}

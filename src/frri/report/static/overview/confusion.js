/** Which classes are called which: a matrix whose cells open their rows, after an edit with differences. */

import { classLabel, rate } from "../charts/chart.js";
import { actionButton, h, muted, named, scrolling, span } from "../core/dom.js";
import { basisText, confusionOf, heldOut, namedRows, performanceOf } from "../model/measures.js";
import { counted, sum, whole } from "../core/format.js";

const MOST_CLASSES = 12;
const MOST_CONFUSIONS = 15;

/**
 * Of held-out rows where these are known, then of those that were given.
 *
 * @param {object} store
 * @param {object} actions
 * @returns {HTMLElement|Array}
 */
export function confusion(store, actions) {
  const { facts, isEdited } = store;
  const performance = performanceOf(store);
  const held = heldOut(store);
  // After an edit, what was in each cell among the same rows before.
  const before = isEdited && performance ? confusionOf(store.original, store.rows, facts.model.classes.length) : null;
  const given = performance && [muted(basisText(facts, performance.n)), confusionTable(store, performance.confusion, actions, before)];
  if (!held?.confusion) return given ?? muted("Unknown without labelled rows.");
  return [
    muted(`Of ${counted(held.rows, "row")}, ${held.basis}.`),
    confusionTable(store, held.confusion),
    given && h("details", {}, h("summary", {}, `On the ${namedRows(facts, performance.n)}`), given),
  ];
}

/** With actions, cells open their rows. */
function confusionTable(store, cells, actions = null, learned = null) {
  const { classes } = store.facts.model;
  const n = classes.length;
  if (n > MOST_CLASSES) return confusionList(store, cells, actions);
  const counts = matrixOf(cells, n);
  const before = learned && matrixOf(learned, n);
  const totals = counts.map(sum);
  const called = classes.map((_, d) => sum(counts.map((row) => row[d])));
  const all = sum(totals);
  const head = (text, title) => h("th", { scope: "col", class: "muted recall", title }, text);
  const cell = (c, d) => {
    const label = `${counted(counts[c][d], "row")}, ${classes[c]} decided as ${classes[d]}: show them`;
    const text = whole(counts[c][d]);
    return actions && counts[c][d] ? actionButton(text, () => actions.showCases(`${c}-${d}`), "cell-link", label) : text;
  };
  return scrolling(
    "Confusion matrix",
    h(
      "table",
      "confusion",
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col", class: "muted" }, "is ↓  decided →"),
          classes.map((label) => h("th", { scope: "col" }, classLabel(store, label))),
          head("recall", "Sensitivity: fraction of the rows of the class that are decided as it"),
          head("specificity", "Fraction of the rows of other classes that are not decided as it"),
          head("precision", "Fraction of the rows decided as the class that are of it"),
        ),
      ),
      h(
        "tbody",
        {},
        classes.map((label, c) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, classLabel(store, label)),
            counts[c].map((count, d) =>
              h(
                "td",
                `${c === d ? "right" : "wrong"} heat-${heat(count, totals[c])}`,
                cell(c, d),
                before && count !== before[c][d]
                  ? span("difference", ` ${count > before[c][d] ? "+" : "−"}${Math.abs(count - before[c][d])}`)
                  : null,
              ),
            ),
            h("td", "recall", rate(counts[c][c], totals[c])),
            h("td", "recall", rate(all - totals[c] - called[c] + counts[c][c], all - totals[c])),
            h("td", "recall", rate(counts[c][c], called[c])),
          ),
        ),
      ),
    ),
  );
}

function matrixOf(cells, n) {
  const counts = Array.from({ length: n }, () => new Array(n).fill(0));
  for (const [truth, decided, count] of cells) counts[truth][decided] = count;
  return counts;
}

/** How dark a cell is, from 0 to 5. */
function heat(n, total) {
  return n ? Math.max(1, Math.ceil((5 * n) / total)) : 0;
}

/** Of many classes, the pairs that are confused most often. */
function confusionList({ facts }, cells, actions) {
  const { classes } = facts.model;
  const wrong = cells.filter(([truth, decided]) => truth !== decided).sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  if (!wrong.length) return h("p", {}, "No classes are confused.");
  const pair = (truth, decided) => {
    const text = `${classes[truth]} called ${classes[decided]}`;
    return actions ? actionButton(text, () => actions.showCases(`${truth}-${decided}`), "link") : named(text);
  };
  return [
    muted(`${classes.length} classes are too many for a matrix; these are confused most often.`),
    h("ol", "confusions", wrong.slice(0, MOST_CONFUSIONS).map(([truth, decided, times]) => h("li", {}, pair(truth, decided), ` ${times} ×`))),
  ];
}

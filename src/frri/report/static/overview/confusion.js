/** Which classes are called which: a matrix whose cells open their rows, after an edit with differences. */

import { classLabel, rate } from "../charts/chart.js";
import { actionButton, h, muted, scrolling, span } from "../core/dom.js";
import { basisText, confusionOf, performanceOf } from "../model/measures.js";
import { counted, sum, whole } from "../core/format.js";

const MOST_CLASSES = 12;
const MOST_CONFUSIONS = 15;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {HTMLElement|Array}
 */
export function confusion(store, actions) {
  const { classes } = store.facts.model;
  const performance = performanceOf(store);
  if (!performance) return muted("Unknown without labelled rows.");
  if (classes.length > MOST_CLASSES) return confusionList(store, performance, actions);
  const counts = matrixOf(performance.confusion, classes.length);
  // After an edit, what was in each cell among the same rows before.
  const learned = store.isEdited ? confusionOf(store.original, store.rows, classes.length) : null;
  const before = learned && matrixOf(learned, classes.length);
  const totals = counts.map(sum);
  return [muted(basisText(store.facts, performance.n)), scrolling(
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
          h("th", { scope: "col", class: "muted recall", title: "Fraction of the rows of the class that are decided as it" }, "recall"),
          h("th", { scope: "col", class: "muted recall", title: "Fraction of the rows decided as the class that are of it" }, "precision"),
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
            counts[c].map((n, d) =>
              h(
                "td",
                `${c === d ? "right" : "wrong"} heat-${heat(n, totals[c])}`,
                n
                  ? actionButton(
                      whole(n),
                      () => actions.showCases(`${c}-${d}`),
                      "cell-link",
                      `${counted(n, "row")}, ${label} decided as ${classes[d]}: show them`,
                    )
                  : "0",
                before && n !== before[c][d]
                  ? span("difference", ` ${n > before[c][d] ? "+" : "−"}${Math.abs(n - before[c][d])}`)
                  : null,
              ),
            ),
            h("td", "recall", rate(counts[c][c], totals[c])),
            h("td", "recall", rate(counts[c][c], sum(counts.map((row) => row[c])))),
          ),
        ),
      ),
    ),
  )];
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

/** Of many classes, the pairs that are confused most often; each opens its rows. */
function confusionList({ facts }, { confusion: cells, n }, actions) {
  const { classes } = facts.model;
  const wrong = cells.filter(([truth, decided]) => truth !== decided).sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  if (!wrong.length) return h("p", {}, "No class is called another.");
  return [
    muted(`${classes.length} classes are too many for a matrix; these are confused most often. ${basisText(facts, n)}`),
    h(
      "ol",
      "confusions",
      wrong.slice(0, MOST_CONFUSIONS).map(([truth, decided, times]) =>
        h("li", {}, actionButton(`${classes[truth]} called ${classes[decided]}`, () => actions.showCases(`${truth}-${decided}`), "link"), ` ${times} ×`),
      ),
    ),
  ];
}

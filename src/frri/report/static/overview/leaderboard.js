/** The algorithms that were compared on held-out rows before this one was chosen, if the model has their scores. */

import { smallTable } from "../charts/rowTable.js";
import { h, named, scrolling } from "../core/dom.js";

/**
 * @param {object} facts
 * @returns {?HTMLElement} null where nothing was compared
 */
export function leaderboardCard({ overview }) {
  // A file may say anything.
  const found = overview.evaluation?.leaderboard;
  const known = Array.isArray(found) ? found.filter((one) => one && Number.isFinite(one.score)) : [];
  if (known.length < 2) return null;
  const number = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
  const { measure } = overview.evaluation;
  return h(
    "section",
    { class: "card half" },
    h("h2", {}, "Compared algorithms"),
    h("p", { class: "muted" }, "Results on held-out rows; numbers of rules are means of the folds."),
    scrolling(
      "Compared algorithms",
      smallTable(
        ["Algorithm", measure[0].toUpperCase() + measure.slice(1), "Rules"],
        known.map(({ name, score, rules }) => [named(name), number(score, 3), number(rules, 1)]),
      ),
    ),
  );
}

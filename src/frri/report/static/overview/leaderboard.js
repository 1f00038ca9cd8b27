/** The algorithms that were compared on held-out rows before this one was chosen, if the model has their scores. */

import { smallTable } from "../charts/rowTable.js";
import { card, muted, named, scrolling } from "../core/dom.js";
import { measureTitle } from "../core/format.js";

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
  return card(
    "Compared algorithms",
    "",
    muted("Results on held-out rows; numbers of rules are means of the folds."),
    scrolling(
      "Compared algorithms",
      smallTable(
        ["Algorithm", measureTitle(overview.evaluation.measure), "Rules"],
        known.map(({ name, score, rules }) => [named(name), number(score, 3), number(rules, 1)]),
      ),
    ),
  );
}

/** Algorithms and sizes that were compared on held-out rows before this model was chosen, if it has their scores. */

import { smallTable } from "../charts/rowTable.js";
import { card, muted, named, scrolling } from "../core/dom.js";
import { counted, measureTitle } from "../core/format.js";

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

/**
 * The sizes that the learner tried in cross-validation, with their standard errors.
 *
 * @param {object} facts
 * @returns {?HTMLElement} null where no sizes were tried
 */
export function sizesCard({ path }) {
  if (!path) return null;
  const { sizes, scores, errors, chosen, measure } = path;
  return card(
    "Size by cross-validation",
    "",
    muted(`On held-out training rows. Chosen: at most ${counted(chosen, "rule")}, the fewest within half a standard error of the best.`),
    scrolling(
      "Sizes",
      smallTable(
        ["Rules", measureTitle(measure), "Standard error"],
        sizes.map((size, k) => [size, scores[k].toFixed(3), errors[k].toFixed(3)]),
        (k) => (sizes[k] === chosen ? "chosen-size" : null),
      ),
    ),
  );
}

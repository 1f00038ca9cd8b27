/** How good fewer rules would be: a curve, its numbers, and the slider that keeps the first of them. */

import { h, put } from "./dom.js";
import { goodnessBySize } from "./measures.js";
import { shownNumber } from "./numbers.js";
import { smallTable } from "./rowtable.js";
import { sizeCurve } from "./sizecurve.js";
import { trimmer } from "./trimming.js";
import { shareText } from "./words.js";

/**
 * Known of the rules as learned; measured, in a while, of edited ones.
 *
 * @param {object} store
 * @returns {HTMLElement|Array}
 */
export function curveBlock(store) {
  const { facts, state } = store;
  if (!store.isEdited || !facts.curve) return curve(facts.curve, store);
  const place = h("div", { "aria-busy": "true" }, h("p", { class: "muted" }, "Being measured …"));
  goodnessBySize(store, () => store.state !== state).then((points) => {
    if (!points) return;
    put(place, curve(points, store));
    place.removeAttribute("aria-busy");
  });
  return place;
}

function curve(points, store) {
  const { model } = store.state;
  if (!points || points.length < 2)
    return h(
      "p",
      { class: "muted" },
      points ? "There are too few rules to compare." : "Unknown without rows whose answer is known.",
    );
  const order =
    model.semantics.name === "first-match"
      ? "The list is cut off after so many rules."
      : "Rules are added by how many rows each covers that none before it did.";
  const drawing = sizeCurve(store.facts, points);
  const isNumber = points[0].mae !== undefined;
  return [
    h("p", { class: "muted" }, order),
    drawing.element,
    trimmer(store, drawing.mark),
    h(
      "details",
      {},
      h("summary", {}, "The numbers"),
      smallTable(
        ["Rules", isNumber ? "Off by" : "Accuracy", "Coverage"],
        points.map(({ n_rules, mae, accuracy, coverage }) => [
          n_rules,
          isNumber ? shownNumber(store.facts, mae) : shareText(accuracy),
          shareText(coverage),
        ]),
      ),
    ),
  ];
}

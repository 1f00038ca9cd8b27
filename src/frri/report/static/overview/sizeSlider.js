/** How good fewer rules would be: a curve, its numbers, and the slider that keeps the first of them. */

import { actionButton, h, put, scrolling } from "../core/dom.js";
import { goodnessAt, goodnessBySize, orderOf } from "../model/measures.js";
import { shownNumber } from "../model/regression.js";
import { smallTable } from "../charts/rowTable.js";
import { sizeCurve } from "./sizeCurve.js";
import { counted, percentText, shareText } from "../core/format.js";

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
    scrolling("Curve of the number of rules", drawing.element),
    sizeSlider(store, drawing.mark),
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

/**
 * A slider that keeps the first rules: the effect is shown before it is applied.
 *
 * @param {object} store with rows that have classes or numbers
 * @param {function(object): void} mark told {n_rules, accuracy or mae, coverage} to show on the curve
 * @returns {HTMLElement}
 */
function sizeSlider(store, mark) {
  const [order, always] = orderOf(store);
  const said = h("p", { class: "muted", role: "status" });
  const slider = h("input", {
    type: "range",
    id: "keep-rules",
    min: 0,
    max: order.length,
    step: 1,
    value: order.length,
  });
  const keep = actionButton("Keep these, remove the others", () => {
    const kept = [...order.slice(0, Number(slider.value)), ...always];
    const label = `Kept the first ${counted(kept.length, "rule")}`;
    store.keep(new Set(kept.map(({ number }) => number)), label);
  });
  let turn = 0;
  slider.addEventListener("input", show);
  keep.disabled = true;
  put(said, `All ${counted(order.length + always.length, "rule")}.`);
  return h(
    "div",
    { class: "trimmer" },
    h("label", { for: "keep-rules" }, "Keep the top rules"),
    slider,
    said,
    keep,
  );

  async function show() {
    turn += 1;
    const mine = turn;
    const size = Number(slider.value);
    keep.disabled = size === order.length;
    const point = await goodnessAt(store, size, () => mine !== turn);
    if (!point || mine !== turn) return;
    const good =
      point.mae === undefined
        ? `right on ${percentText(point.accuracy)}`
        : `off by ${shownNumber(store.facts, point.mae)} on average`;
    said.textContent = `${counted(point.n_rules, "rule")}: ${good}, ${percentText(point.coverage)} covered.`;
    mark(point);
  }
}

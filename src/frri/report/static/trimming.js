/** A slider that keeps the first so many rules: what that would cost is shown before it is done. */

import { actionButton, h, put } from "./dom.js";
import { goodnessAt, orderOf } from "./measures.js";
import { shownNumber } from "./numbers.js";
import { counted, percentText } from "./words.js";

/**
 * @param {object} store with rows that have classes or numbers
 * @param {function(object): void} mark told {n_rules, accuracy or mae, coverage} to show on the curve
 * @returns {HTMLElement}
 */
export function trimmer(store, mark) {
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

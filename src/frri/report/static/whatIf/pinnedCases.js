/** Cases kept side by side with the one that is looked at: decisions, and where their values differ. */

import { answerLabel } from "../charts/chart.js";
import { actionButton, h, named, put, scrolling } from "../core/dom.js";
import { predict } from "../../../export/evaluator.js";
import { predictsNumbers } from "../model/regression.js";
import { showValue } from "../core/format.js";

const MOST_PINS = 2;

/**
 * @param {object} store
 * @param {{tryValues: function(Array): void, current: function(): {values: Array, row: ?number}}} actions
 * @returns {{element: HTMLElement, button: HTMLElement, update: function(): void}}
 */
export function pinBoard(store, { tryValues, current }) {
  let pinned = [];
  const element = h("section", { class: "pins", "aria-label": "Pinned cases", hidden: true });
  const button = actionButton("Pin this case", () => {
    const { values, row } = current();
    pinned = [...pinned, { values, row }].slice(-MOST_PINS);
    update();
  });
  return { element, button, update };

  function update() {
    element.hidden = !pinned.length;
    if (!pinned.length) return;
    const { model } = store.state;
    const cases = [...pinned, current()];
    const differing = model.attributes.flatMap((_, j) =>
      cases.some(({ values }) => values[j] !== cases[0].values[j]) ? [j] : [],
    );
    const head = (one, k) => {
      if (k === pinned.length) return h("th", { scope: "col" }, "This case");
      const name = one.row === null ? `Pinned ${k + 1}` : `Row ${store.rows.name(one.row)}`;
      return h(
        "th",
        { scope: "col" },
        name,
        " ",
        actionButton("use", () => tryValues(one.values), "link", `Use ${name}`),
        " ",
        actionButton("unpin", () => unpin(k), "link", `Unpin ${name}`),
      );
    };
    put(
      element,
      scrolling(
        "Pinned cases, compared",
        h(
          "table",
          { class: "small" },
          h("thead", {}, h("tr", {}, h("td", {}), cases.map(head))),
          h(
            "tbody",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "row" }, predictsNumbers(model) ? "Prediction" : "Decision"),
              cases.map(({ values }) => h("td", {}, answerLabel(store, predict(model, values)))),
            ),
            differing.map((j) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, named(model.attributes[j].name)),
                cases.map(({ values }) =>
                  h("td", {}, named(showValue(model.attributes[j], values[j]))),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  function unpin(k) {
    pinned = pinned.filter((_, i) => i !== k);
    update();
  }
}

/** Rules merged into more general ones: a tree to open from the top. */

import { classColour, swatch } from "../charts/chart.js";
import { h } from "../core/dom.js";
import { counted, percentText } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {HTMLElement|null} null where nothing was merged, or rules have changed since
 */
export function mergedRules(store, actions) {
  const { facts } = store;
  if (!facts.merged || store.isEdited) return null;
  return h(
    "section",
    { class: "card wide merged" },
    h("h2", {}, "From the general to the particular"),
    h(
      "p",
      { class: "muted" },
      "Rules that are alike, merged: each covers what those below it cover, and may cover more. Open one to see what it is made of.",
    ),
    h("ul", { class: "tree" }, facts.merged.map((root) => h("li", {}, node(root)))),
  );

  function node(one) {
    const said = [swatch(classColour(facts, one.class)), one.text];
    const known = h("span", { class: "muted" }, ` ${counted(one.covered, "row")}${precision(one)}`);
    if (!one.children.length) {
      const number = one.rules[0] + 1;
      const link = h("button", { type: "button", class: "link", onclick: () => actions.openRule(number) }, `Rule ${number}`);
      return h("div", {}, said, known, ", ", link);
    }
    return h(
      "details",
      {},
      h("summary", {}, said, known, h("span", { class: "muted" }, `, ${counted(one.rules.length, "rule")}`)),
      h("ul", { class: "tree" }, one.children.map((child) => h("li", {}, node(child)))),
    );
  }
}

function precision(one) {
  return one.precision === null ? "" : `, ${percentText(one.precision)} right`;
}

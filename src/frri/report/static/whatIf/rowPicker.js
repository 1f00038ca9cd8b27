/** Where a row of What-if comes from: an embedded one, a random one, a wrong one, a pasted one. */

import { h } from "../core/dom.js";

/**
 * @param {object} store
 * @param {{tryRow: function(number): void, paste: function(string): void}} actions
 * @param {...HTMLElement} further buttons that stand beside them
 * @returns {{element: HTMLElement, update: function(?number): void}}
 */
export function rowPicker(store, { tryRow, paste }, ...further) {
  const { rows, facts } = store;
  const note = h("p", { class: "start-note", role: "status" });
  const text = h("textarea", {
    id: "pasted",
    rows: 2,
    spellcheck: "false",
    placeholder: "Values in the order of the attributes, a header and a line, or JSON",
  });
  const use = () => {
    try {
      paste(text.value);
      note.textContent = "";
    } catch (error) {
      note.textContent = error.message;
    }
  };
  const pasting = h(
    "details",
    { class: "pasting" },
    h("summary", {}, "Paste a row"),
    h("label", { class: "hidden", for: "pasted" }, "A row as text"),
    text,
    h("button", { type: "button", onclick: use }, "Use it"),
  );
  if (!rows) {
    return {
      element: h(
        "div",
        { class: "starters" },
        h(
          "p",
          { class: "muted" },
          "No rows came with this page; the row starts in the middle of the training ranges.",
        ),
        h("div", { class: "start-row" }, further),
        pasting,
        note,
      ),
      update() {},
    };
  }
  const highest = rows.number(rows.n - 1);
  const chosen = () => Math.min(Math.max(Math.round(Number(number.value) || 1), 1), highest);
  const number = h("input", {
    type: "number",
    id: "row-number",
    min: 1,
    max: highest,
    step: 1,
    value: 1,
  });
  number.addEventListener("change", () => {
    const found = rows.find(chosen());
    if (found >= 0) {
      note.textContent = "";
      tryRow(found);
    } else
      note.textContent = `Row ${chosen()} is not among the ${rows.n.toLocaleString("en")} embedded rows.`;
  });
  const start = (i) => {
    note.textContent = "";
    tryRow(i);
  };
  const random = () => start(Math.floor(Math.random() * rows.n));
  const wrong = () => {
    const found = [];
    for (let i = 0; i < rows.n; i += 1)
      if (store.state.decided[i] !== rows.classes[i]) found.push(i);
    if (found.length) start(found[Math.floor(Math.random() * found.length)]);
    else note.textContent = "Every embedded row is decided rightly.";
  };
  const far = () => {
    const errors = [...rows.truth.keys()].map((i) => Math.abs(rows.truth[i] - store.state.answers[i]));
    start(errors.indexOf(errors.reduce((a, b) => Math.max(a, b))));
  };
  const element = h(
    "div",
    { class: "starters" },
    h(
      "div",
      { class: "start-row" },
      h("div", { class: "field" }, h("label", { for: "row-number" }, "Start from row"), number),
      h("button", { type: "button", onclick: random }, "Random row"),
      rows.truth ? h("button", { type: "button", onclick: far }, "The one off by most") : null,
      rows.classes && !rows.truth
        ? h("button", { type: "button", onclick: wrong }, "A wrong decision")
        : null,
      further,
    ),
    pasting,
    facts.data.sampled
      ? h(
          "p",
          { class: "muted" },
          `A random sample of ${rows.n.toLocaleString("en")} of ${facts.data.n_rows.toLocaleString("en")} rows is embedded.`,
        )
      : null,
    note,
  );
  return {
    element,
    update(row) {
      if (row !== null) number.value = rows.number(row);
    },
  };
}


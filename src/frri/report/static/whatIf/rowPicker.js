/** Where a row of What-if comes from: typical values, an embedded row, a pasted one. */

import { actionButton, h, labelled, muted } from "../core/dom.js";
import { whole, within } from "../core/format.js";

/**
 * @param {object} store
 * @param {{tryRow: function(number): void, paste: function(string): void, tryTypical: function(): void,
 *   copyLink: function(HTMLElement): void}} actions
 * @returns {{element: HTMLElement, update: function(?number): void}}
 */
export function rowPicker({ rows, facts }, { tryRow, paste, tryTypical, copyLink }) {
  const note = h("p", { class: "start-note", role: "status" });
  const text = h("textarea", {
    id: "pasted",
    rows: 2,
    spellcheck: "false",
    placeholder: "Values in the order of the columns, a header and a line, or JSON",
  });
  const use = () => {
    try {
      paste(text.value);
      note.textContent = "";
    } catch (error) {
      note.textContent = error.message;
    }
  };
  const highest = rows ? rows.number(rows.n - 1) : 0;
  const number = h("input", { type: "number", id: "row-number", min: 1, max: highest, step: 1, placeholder: "–" });
  number.addEventListener("change", () => {
    const chosen = within(Math.round(Number(number.value) || 1), 1, highest);
    const found = rows.find(chosen);
    note.textContent = found < 0 ? `Row ${chosen} is not among the ${whole(rows.n)} embedded rows.` : "";
    if (found >= 0) tryRow(found);
  });
  const element = h(
    "div",
    "starters",
    h(
      "div",
      "start-row",
      actionButton("Typical values", tryTypical),
      rows ? labelled("Row", number) : null,
      rows ? actionButton("Random row", () => tryRow(Math.floor(Math.random() * rows.n))) : null,
      actionButton("Copy link", (event) => copyLink(event.currentTarget)),
    ),
    h(
      "details",
      "pasting",
      h("summary", {}, "Paste a row"),
      h("label", { class: "hidden", for: "pasted" }, "A row as text"),
      text,
      actionButton("Use it", use),
    ),
    facts.data?.sampled
      ? muted(`A random sample of ${whole(rows.n)} of ${whole(facts.data.n_rows)} rows is embedded.`)
      : null,
    note,
  );
  return {
    element,
    update(row) {
      number.value = row === null ? "" : rows.number(row);
    },
  };
}

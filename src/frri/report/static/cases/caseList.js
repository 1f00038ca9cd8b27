/** The embedded rows that a filter lets pass, as a list that is drawn so many rows at a time. */

import { actionButton, announce, h, put, scrolling } from "../core/dom.js";
import { option } from "../rules/filters.js";
import { usedByRank } from "../model/ranking.js";
import { rowTable } from "../charts/rowTable.js";
import { counted } from "../core/format.js";

const CHUNK = 50;
const MOST_COLUMNS = 5;

/**
 * @param {object} store
 * @param {object} actions
 * @param {Object<string, {title: string}>} filters
 * @param {{draw: function(): void, chosen: function(): void}} when what is shown is to be drawn, a filter is chosen
 * @returns {{filter: HTMLElement, said: HTMLElement, element: HTMLElement, restart: function(): void,
 *   show: function(number[], object, ?Child[]): void, numberOf: function(number[]): string}} show takes the rows,
 *   what a `rowTable` has of each, and what is said of them: by default their number
 */
export function caseList(store, actions, filters, { draw, chosen }) {
  const { rows, facts } = store;
  let drawn = CHUNK;
  const filter = h(
    "select",
    { id: "case-filter", onchange: chosen },
    Object.entries(filters).map(([key, { title }]) => option(key, title)),
  );
  const said = h("p", { class: "count", role: "status" });
  const list = scrolling("Rows");
  const more = actionButton("More rows", () => {
    drawn += CHUNK;
    draw();
  });
  return { filter, said, element: h("div", {}, list, more), restart, show, numberOf };

  function restart() {
    drawn = CHUNK;
    draw();
  }

  function show(found, known, beside = numberOf(found)) {
    put(said, beside);
    announce(said.textContent);
    const columns = usedByRank(facts).slice(0, MOST_COLUMNS);
    const table = () => rowTable(store, actions, { shown: found.slice(0, drawn), columns, ...known });
    put(list, found.length ? table() : h("p", { class: "muted" }, "There is none."));
    more.hidden = found.length <= drawn;
  }

  function numberOf(found) {
    const part = found.length === rows.n ? "" : `${found.length.toLocaleString("en")} of `;
    return `${part}${counted(rows.n, facts.data.sampled ? "embedded row" : "row")}`;
  }
}

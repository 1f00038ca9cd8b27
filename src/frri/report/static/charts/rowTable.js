/**
 * Small tables: headings and cells, and embedded rows that open in What-if.
 *
 * @typedef {import("../core/dom.js").Child} Child
 */

import { actionButton, h, named } from "../core/dom.js";
import { showValue } from "../core/format.js";

/**
 * @param {Child[]} titles
 * @param {Array<Array<Child|Child[]>>} lines cells; null for one that is not there
 * @param {function(number): ?string} [extra] the class of a line
 * @returns {HTMLElement}
 */
export function smallTable(titles, lines, extra = () => null) {
  const cell = (content) => (content === null ? null : h("td", {}, content));
  return h(
    "table",
    "small",
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, lines.map((cells, k) => h("tr", { class: extra(k) }, cells.map(cell)))),
  );
}

/**
 * Embedded rows: the name of each, what is known of it, and its values of some attributes.
 *
 * @param {object} store
 * @param {object} actions
 * @param {object} what
 * @param {number[]} what.shown rows
 * @param {number[]} what.columns attributes
 * @param {Array<{title: string, cell: function(number): Child}>} what.known
 * @param {function(number): ?string} [what.extra] the class of a row
 * @param {function(string, Child): Child} [what.heading] what stands above the column of a key
 * @returns {HTMLElement}
 */
export function rowTable({ rows, facts }, actions, { shown, columns, known, extra = () => null, heading = (_, title) => title }) {
  const { attributes } = facts.model;
  const line = (i) => {
    const [name, values] = [rows.name(i), rows.at(i)];
    const button = actionButton(name, () => actions.tryRow(i), "link", `Row ${name} in What-if`);
    return [button, ...known.map(({ cell }) => cell(i)), ...columns.map((j) => named(showValue(attributes[j], values[j])))];
  };
  const headings = [
    heading("Row", "Row"),
    ...known.map(({ title }) => heading(title, title)),
    ...columns.map((j) => heading(String(j), named(attributes[j].name))),
  ];
  return smallTable(headings, shown.map(line), (k) => extra(shown[k]));
}

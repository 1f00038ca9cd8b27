/** Small tables: headings and cells, and embedded rows that open in What-if. */

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
    { class: "small" },
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, lines.map((cells, k) => h("tr", { class: extra(k) }, cells.map(cell)))),
  );
}

/**
 * Embedded rows: the name of each, what is known of it, and its values of some attributes.
 *
 * @param {object} store
 * @param {object} actions
 * @param {{shown: number[], columns: number[], titles: string[], cells: function(number): Array, extra: ?function(number): ?string}} what
 *   rows, attributes, the headings of what is known, the cells of a row, the class of a row
 * @returns {HTMLElement}
 */
export function rowTable({ rows, facts }, actions, { shown, columns, titles, cells, extra = () => null }) {
  const { attributes } = facts.model;
  const line = (i) => {
    const [name, values] = [rows.name(i), rows.at(i)];
    const button = actionButton(name, () => actions.tryRow(i), "link", `Row ${name} in What-if`);
    return [button, ...cells(i), ...columns.map((j) => named(showValue(attributes[j], values[j])))];
  };
  const headings = ["Row", ...titles, ...columns.map((j) => named(attributes[j].name))];
  return smallTable(headings, shown.map(line), (k) => extra(shown[k]));
}

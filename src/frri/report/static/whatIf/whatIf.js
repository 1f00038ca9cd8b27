/**
 * What-if: a form for one row. It starts from typical values, an embedded row or a pasted one; whatever is changed is
 * decided at once. Columns that cannot change are fixed, and stay so. A case can be sent as a link.
 */

import { scalesOnce } from "../charts/distributions.js";
import { byId, h, put } from "../core/dom.js";
import { counted, rangeOf } from "../core/format.js";
import { recall, remember } from "../core/memory.js";
import { ranking, usedColumns } from "../model/ranking.js";
import { valueField } from "./attributeField.js";
import { caseAddress } from "./caseLink.js";
import { parseRow } from "./parseRow.js";
import { whatIfResult } from "./result.js";
import { rowPicker } from "./rowPicker.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{tryRow: function(number): void, tryValues: function(Array): void}}
 */
export function whatIfView(store, actions) {
  const { model, fixed } = store.facts;
  const ranked = ranking(store.facts);
  const key = `frri-fixed ${model.target} ${model.attributes.map(({ name }) => name).join()}`.slice(0, 500);
  const declared = recall("localStorage", key) ?? fixed;
  const locked = new Set(model.attributes.flatMap(({ name }, j) => (declared.includes(name) ? [j] : [])));
  const typical = model.attributes.map((attribute, j) => typicalOf(store, attribute, j));
  /** Columns whose field holds a text that cannot be read. */
  const unread = new Set();
  let values = typical;
  let row = null;
  const fields = model.attributes.map((attribute, j) =>
    valueField(store, attribute, j, {
      changed: (value) => change(j, value),
      isLocked: locked.has(j),
      locked: (isKept) => {
        if (isKept) locked.add(j);
        else locked.delete(j);
        remember("localStorage", key, [...locked].map((one) => model.attributes[one].name));
        refresh();
      },
    }),
  );
  const result = whatIfResult(store, {
    ...actions,
    setValues: tryValues,
    showStrips: (strips) => fields.forEach((field, j) => field.showStrip(strips.get(j) ?? null)),
  });
  const starter = rowPicker(store, {
    tryRow,
    paste: (text) => tryValues(parseRow(model, text)),
    tryTypical: () => tryValues(typical),
    copyLink: (button) => actions.copyLink(button, caseAddress(values)),
  });
  const form = h("div", {});
  let order = null;
  arrange();
  put(
    byId("what-if-view"),
    h(
      "div",
      "what-if",
      h("form", { class: "row-form", "aria-label": "The row", onsubmit: (event) => event.preventDefault() }, starter.element, form),
      result.element,
    ),
  );
  store.subscribe(() => {
    arrange();
    refresh();
  });
  tryValues(typical);
  return { tryRow, tryValues };

  /** The most important first; those that no rule uses come last, folded away. Edits may change which these are. */
  function arrange() {
    const places = usedColumns(store.state.model);
    if (String(places) === order) return;
    order = String(places);
    const [used, unused] = [true, false].map((isUsed) =>
      ranked.filter((j) => places.includes(j) === isUsed).map((j) => fields[j].element),
    );
    put(
      form,
      h("div", "values", used),
      unused.length
        ? h("details", "unused", h("summary", {}, `${counted(unused.length, "column")} that no rule uses`), h("div", "values", unused))
        : null,
    );
  }

  function tryRow(i) {
    row = i;
    setValues(store.rows.at(i));
  }

  function tryValues(changed) {
    row = null;
    setValues(changed);
  }

  function setValues(changed) {
    values = changed;
    unread.clear();
    fields.forEach((field, j) => field.set(values[j]));
    settled();
  }

  function change(j, value) {
    if (value === undefined) unread.add(j);
    else {
      unread.delete(j);
      values = values.with(j, value);
    }
    row = null;
    settled();
  }

  function settled() {
    starter.update(row);
    refresh();
  }

  function refresh() {
    if (unread.size) result.suspend();
    else result.update(values, row, locked);
  }
}

/** The median, or the most frequent category, of the embedded rows; without rows the middle of the training range. */
function typicalOf(store, attribute, j) {
  if (attribute.typical !== undefined && attribute.typical !== null) return attribute.typical;
  const { categories } = attribute;
  const known = store.rows ? Array.from(store.rows.columns[j]).filter((value) => !Number.isNaN(value) && value >= (categories ? 0 : -Infinity)) : [];
  if (categories) {
    const counts = categories.map(() => 0);
    for (const value of known) counts[value] += 1;
    return categories[counts.indexOf(Math.max(...counts))] ?? null;
  }
  if (known.length) return known.sort((a, b) => a - b)[Math.floor(known.length / 2)];
  const [low, high] = rangeOf(attribute);
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  const scale = scalesOnce(store).get(attribute.name);
  return (scale.low + scale.high) / 2;
}

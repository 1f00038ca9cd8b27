/**
 * What-if: a form for one row. It starts from an embedded row, a pasted one or the middle of the ranges;
 * whatever is changed is decided at once. Cases can be pinned and compared, and sent as a link.
 */

import { byId, h, put } from "../core/dom.js";
import { valueField } from "./attributeField.js";
import { predictsNumbers } from "../model/regression.js";
import { numberResult } from "./numberResult.js";
import { parseRow } from "./parseRow.js";
import { pinBoard } from "./pinnedCases.js";
import { ranking } from "../model/ranking.js";
import { linkTo } from "./caseLink.js";
import { rowPicker } from "./rowPicker.js";
import { whatIfResult } from "./whatIfResult.js";
import { counted, rangeOf } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{tryRow: function(number): void, tryValues: function(Array): void}}
 */
export function whatIfView(store, actions) {
  const { model } = store.facts;
  const ranked = ranking(store.facts);
  let values = model.attributes.map(middle);
  let row = null;
  const locked = new Set();
  const fields = model.attributes.map((attribute, j) =>
    valueField(store, attribute, j, {
      changed: (value) => change(j, value),
      locked: (isKept) => {
        if (isKept) locked.add(j);
        else locked.delete(j);
        verdict.update(values, row, locked);
      },
    }),
  );
  const verdict = (predictsNumbers(model) ? numberResult : whatIfResult)(store, {
    ...actions,
    setValues: tryValues,
    showStrips: (strips) => fields.forEach((field, j) => field.showStrip(strips.get(j) ?? null)),
  });
  const pins = pinBoard(store, { tryValues, current: () => ({ values, row }) });
  const starter = rowPicker(store, { tryRow, paste }, pins.button, linkTo(() => values));
  const form = h("div", {});
  let order = null;
  arrange();
  put(
    byId("what-if-view"),
    h(
      "div",
      { class: "what-if" },
      h(
        "form",
        { class: "row-form", "aria-label": "The row", onsubmit: (event) => event.preventDefault() },
        starter.element,
        pins.element,
        form,
      ),
      verdict.element,
    ),
  );
  store.subscribe(() => {
    arrange();
    pins.update();
    verdict.update(values, row, locked);
  });
  if (store.rows) tryRow(0);
  else setValues(values);
  return { tryRow, tryValues };

  /** The most important first; those that no rule uses come last, folded away. Edits may change which these are. */
  function arrange() {
    const names = new Set(
      store.state.entries.flatMap(({ rule }) => rule.if.map((condition) => condition.attribute)),
    );
    const places = model.attributes.map(({ name }) => names.has(name));
    if (String(places) === order) return;
    order = String(places);
    const [used, unused] = [true, false].map((isUsed) =>
      ranked.filter((j) => places[j] === isUsed).map((j) => fields[j]),
    );
    put(
      form,
      h("div", { class: "values" }, used.map(elementOf)),
      unused.length
        ? h(
            "details",
            { class: "unused" },
            h("summary", {}, `${counted(unused.length, "attribute")} that no rule uses`),
            h("div", { class: "values" }, unused.map(elementOf)),
          )
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
    fields.forEach((field, j) => field.set(values[j]));
    settled();
  }

  function change(j, value) {
    values = values.slice();
    values[j] = value;
    row = null;
    settled();
  }

  function settled() {
    starter.update(row);
    pins.update();
    verdict.update(values, row, locked);
  }

  function paste(text) {
    tryValues(parseRow(model, text));
  }
}

function elementOf(field) {
  return field.element;
}

function middle(attribute) {
  if (attribute.categories) return attribute.categories[0] ?? null;
  const [low, high] = rangeOf(attribute);
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  return Number.isFinite(low) ? low : Number.isFinite(high) ? high : 0;
}

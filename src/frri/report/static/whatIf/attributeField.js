/**
 * The field of one attribute of a row: a slider with a number beside it, or a select; both can be missing.
 * Below it a strip shows what would be decided at every value, or a curve what would be predicted.
 */

import { h, named, option, put } from "../core/dom.js";
import { parseValue } from "./parseRow.js";
import { distribution, scalesOnce } from "../charts/distributions.js";
import { stripView } from "../charts/strip.js";
import { missingText, rangeOf, show, typedValue, widthOf, within } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} attribute
 * @param {number} j its position
 * @param {{changed: function(*): void, isLocked: boolean, locked: function(boolean): void}} told
 *   changed gets undefined where a text cannot be read
 * @returns {{element: HTMLElement, set: function(*): void, showStrip: function(?object[]): void}}
 */
export function valueField(store, attribute, j, { changed, isLocked, locked }) {
  const id = `value-${j}`;
  const label = h(
    "span",
    "value-name",
    h("label", { for: id }, named(attribute.name)),
    lockButton(attribute, isLocked, locked),
  );
  const missing = missingText(store.facts.model, attribute);
  const strip = stripView(store, attribute);
  if (attribute.categories) return selectField(attribute, id, label, missing, changed, strip);
  const scale = scalesOnce(store).get(attribute.name);
  const step = Math.max(widthOf(attribute) / 1000, precisionOf(store, j));
  const slider = h("input", {
    type: "range",
    id: `${id}-slider`,
    min: scale.low,
    max: scale.high,
    step: "any",
    "aria-label": `${attribute.name}, slider`,
  });
  const input = h("input", {
    type: "text",
    id,
    inputmode: attribute.kind === "numeric" ? "decimal" : null,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-note`,
  });
  const note = h("p", { class: "note", id: `${id}-note`, role: "status" });
  const field = h(
    "div",
    "value",
    label,
    input,
    note,
    distribution(scale, "value-chart"),
    strip.element,
    slider,
  );
  slider.addEventListener("input", () => {
    const value =
      attribute.kind === "date"
        ? Math.round(slider.valueAsNumber)
        : rounded(slider.valueAsNumber, step);
    display(value, slider);
    changed(value);
  });
  input.addEventListener("input", () => {
    try {
      const value = parseValue(attribute, input.value);
      input.removeAttribute("aria-invalid");
      display(value, input);
      changed(value);
    } catch {
      input.setAttribute("aria-invalid", "true");
      put(note, `'${input.value.trim().slice(0, 60)}' is not a ${attribute.kind === "date" ? "date" : "number"}.`);
      changed(undefined);
    }
  });
  return { element: field, set: (value) => display(value, null), showStrip: strip.show };

  function display(value, source) {
    strip.point(value);
    put(note, outsideText(store.facts.model, attribute, value));
    if (source !== slider && value !== null) slider.value = value;
    slider.setAttribute("aria-valuetext", value === null ? missing : typedValue(attribute, value));
    field.classList.toggle("missing", value === null);
    if (source === input) return;
    input.removeAttribute("aria-invalid");
    input.value = value === null ? "" : typedValue(attribute, value);
    input.title = value === null ? "" : String(value);
    input.placeholder = missing;
  }
}

/** What becomes of a value outside the training range. */
function outsideText({ semantics }, attribute, value) {
  const [low, high] = rangeOf(attribute);
  if (value === null || (value >= low && value <= high)) return "";
  const [now, from, to, end] = [value, low, high, within(value, low, high)].map((one) => show(attribute, one));
  return `${now} is outside the training data (${from} to ${to})${semantics.clip ? ` and counts as ${end}` : "; the model extrapolates"}.`;
}

function rounded(value, step) {
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return Number(value.toFixed(Math.min(decimals, 20)));
}

/** The step that all known values of an attribute are made of, 0 where there is none to see. */
function precisionOf({ facts }, j) {
  const places = facts.data?.columns[j].places;
  const listed = facts.data?.columns[j].values;
  if (places !== undefined) return 10 ** -places;
  if (!listed) return 0;
  const decimals = (value) => (String(value).split(".")[1] ?? "").length;
  const known = listed.filter((value) => value !== null);
  if (known.some((value) => String(value).includes("e"))) return 0;
  return 10 ** -known.reduce((most, value) => Math.max(most, decimals(value)), 0);
}

/** Keeps an attribute out of what may be changed. */
function lockButton(attribute, isLocked, locked) {
  const button = h(
    "button",
    {
      type: "button",
      class: "lock",
      "aria-pressed": String(isLocked),
      "aria-label": `Fix ${attribute.name}`,
      title: "Keep it fixed when changes are searched for",
    },
    "fix",
  );
  button.addEventListener("click", () => {
    const isKept = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isKept));
    locked(isKept);
  });
  return button;
}

function selectField(attribute, id, label, missing, changed, strip) {
  const select = h(
    "select",
    { id },
    attribute.categories.map((name, i) => option(String(i), name)),
    option("", missing),
    h("option", { value: "unseen", hidden: true }, "never seen in training"),
  );
  let unseen = null;
  select.addEventListener("change", () => {
    const value = select.value === "" ? null : attribute.categories[Number(select.value)];
    const now = select.value === "unseen" ? unseen : value;
    strip.point(now);
    changed(now);
  });
  return {
    element: h("div", "value chosen", label, select, strip.element),
    showStrip: strip.show,
    set(value) {
      strip.point(value);
      const found = attribute.categories.indexOf(value);
      if (value !== null && found < 0) unseen = value;
      select.value = value === null ? "" : found < 0 ? "unseen" : String(found);
    },
  };
}

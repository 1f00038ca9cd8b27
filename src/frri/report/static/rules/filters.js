/** Search box and selects above the rules, and the test that they stand for. */

import { h, plain } from "../core/dom.js";
import { ruleParts } from "../text/ruleText.js";

/**
 * @param {object} store
 * @param {function(): void} changed
 * @param {...HTMLElement} further controls that belong beside them
 */
export function filterControls(store, changed, ...further) {
  const { model } = store.facts;
  const search = h("input", {
    type: "search",
    id: "search",
    placeholder: `Attribute, value, ${model.classes.length ? "class" : "number"} or rule number`,
    autocomplete: "off",
    spellcheck: "false",
    oninput: changed,
  });
  const classes = h(
    "select",
    { id: "filter-class", onchange: changed },
    option("", "All classes"),
    model.classes.map((label, c) => option(String(c), String(label))),
  );
  const attributes = h(
    "select",
    { id: "filter-attribute", onchange: changed },
    option("", "Any attribute"),
    model.attributes.map((attribute, j) => option(String(j), attribute.name)),
  );
  const precision = h(
    "select",
    { id: "filter-precision", onchange: changed },
    option("", "Any precision"),
    [
      ["1", "exactly 1"],
      ["0.9", "0.9 or more"],
      ["0.75", "0.75 or more"],
      ["<0.75", "below 0.75"],
    ].map(([value, text]) => option(value, text)),
  );
  const origin = h(
    "select",
    { id: "filter-origin", onchange: changed },
    option("", "Any origin"),
    ["learned", "edited", "written"].map((name) => option(name, name)),
  );
  const originField = field("Origin", origin);
  const texts = new Map();
  const textOf = ({ rule }) => {
    if (!texts.has(rule)) texts.set(rule, searched(`rule ${plain(ruleParts(model, rule))}`));
    return texts.get(rule);
  };
  const update = () => {
    originField.hidden =
      store.state.entries.every(({ rule }) => !rule.origin || rule.origin === "learned") &&
      !origin.value;
  };
  update();
  const element = h(
    "div",
    { class: "filters", role: "search" },
    field("Search", search, "grow"),
    model.classes.length ? field("Class", classes) : null,
    field("Uses", attributes),
    model.classes.length ? field("Precision", precision) : null,
    originField,
    further,
  );
  return {
    element,
    update,
    /** Have the text of an entry ready before it is searched. */
    prepare(entry) {
      textOf(entry);
    },
    clear() {
      for (const control of [search, classes, attributes, precision, origin]) control.value = "";
    },
    /** A function that tells whether an entry passes. */
    matcher() {
      const found = finder(search.value, store.state.entries, textOf);
      const label = classes.value === "" ? null : model.classes[Number(classes.value)];
      const attribute =
        attributes.value === "" ? null : model.attributes[Number(attributes.value)].name;
      return (entry) => {
        const { rule, known } = entry;
        if (label !== null && rule.then !== label) return false;
        if (attribute !== null && !rule.if.some((condition) => condition.attribute === attribute))
          return false;
        if (origin.value && (rule.origin ?? "learned") !== origin.value) return false;
        return precisionPasses(precision.value, known.precision) && found(entry);
      };
    },
  };
}

/** The number of a rule finds that rule; anything else the rules whose words hold every word of it. */
function finder(text, entries, textOf) {
  const typed = searched(text.trim());
  const [, number] = /^(?:rule |#)?(\d+)$/.exec(typed) ?? [];
  if (entries.some((entry) => String(entry.number) === number))
    return (entry) => String(entry.number) === number;
  const words = typed.split(/\s+/).filter(Boolean);
  return (entry) => words.every((word) => textOf(entry).includes(word));
}

/** Signs as they are typed are those that are shown. */
function searched(text) {
  return text.toLowerCase().replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("−", "-");
}

function precisionPasses(wanted, precision) {
  if (!wanted) return true;
  if (precision === null || precision === undefined) return false;
  return wanted.startsWith("<") ? precision < Number(wanted.slice(1)) : precision >= Number(wanted);
}

/**
 * @param {string} value
 * @param {string} text
 * @returns {HTMLElement}
 */
export function option(value, text) {
  return h("option", { value }, text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/**
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [extra] its class
 * @returns {HTMLElement}
 */
export function field(label, control, extra = "") {
  return h(
    "div",
    { class: `field ${extra}` },
    h("label", { for: control.id, class: "hidden" }, label),
    control,
  );
}

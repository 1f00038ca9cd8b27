/**
 * What-if: a form for one row. It starts from an embedded row, a pasted one or the middle of the
 * ranges; whatever is changed is decided at once.
 */


import { byId, h, named, put } from "./dom.js";
import { parseRow, parseValue } from "./pasting.js";
import { distribution, scalesOnce } from "./scales.js";
import { verdictView } from "./verdict.js";
import { counted, missingText, rangeOf, showValue, widthOf } from "./words.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{tryRow: function(number): void, setValues: function(Array): void}}
 */
export function whatIfView(store, actions) {
  const { model } = store.facts;
  let values = model.attributes.map(middle);
  let row = null;
  const fields = model.attributes.map((attribute, j) =>
    valueField(store, attribute, j, (value) => change(j, value)),
  );
  const verdict = verdictView(store, {
    ...actions,
    setValues: (changed) => {
      row = null;
      setValues(changed);
    },
  });
  const starter = starters(store, { tryRow, paste });
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
        form,
      ),
      verdict.element,
    ),
  );
  store.subscribe(() => {
    arrange();
    verdict.update(values, row);
  });
  if (store.rows) tryRow(0);
  else setValues(values);
  return { tryRow, setValues };

  /** Attributes that no rule uses come last, folded away; edits may change which these are. */
  function arrange() {
    const used = new Set(
      store.state.entries.flatMap(({ rule }) => rule.if.map((condition) => condition.attribute)),
    );
    const places = model.attributes.map(({ name }) => used.has(name));
    if (String(places) === order) return;
    order = String(places);
    const unused = fields.filter((_, j) => !places[j]);
    put(
      form,
      h("div", { class: "values" }, fields.filter((_, j) => places[j]).map(elementOf)),
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

  function setValues(changed) {
    values = changed;
    fields.forEach((field, j) => field.set(values[j]));
    starter.update(row);
    verdict.update(values, row);
  }

  function change(j, value) {
    values = values.slice();
    values[j] = value;
    row = null;
    starter.update(null);
    verdict.update(values, null);
  }

  function paste(text) {
    const read = parseRow(model, text);
    row = null;
    setValues(read);
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

/** Where the row comes from: an embedded one, a random one, one that is decided wrongly, a pasted one. */
function starters(store, { tryRow, paste }) {
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
  const element = h(
    "div",
    { class: "starters" },
    h(
      "div",
      { class: "start-row" },
      h("div", { class: "field" }, h("label", { for: "row-number" }, "Start from row"), number),
      h("button", { type: "button", onclick: random }, "Random row"),
      rows.classes ? h("button", { type: "button", onclick: wrong }, "A wrong decision") : null,
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

/** The field of one attribute: a slider with a number beside it, or a select; both can be missing. */
function valueField(store, attribute, j, changed) {
  const id = `value-${j}`;
  const label = h("label", { for: id, class: "value-name" }, named(attribute.name));
  const missing = missingText(store.facts.model, attribute);
  if (attribute.categories) return selectField(attribute, id, label, missing, changed);
  const scale = scalesOnce(store).get(attribute.name);
  const step = widthOf(attribute) / 1000;
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
  });
  const field = h("div", { class: "value" }, label, input, distribution(scale, "value-chart"), slider);
  slider.addEventListener("input", () => {
    const value =
      attribute.kind === "date"
        ? Math.round(slider.valueAsNumber)
        : rounded(slider.valueAsNumber, step);
    show(value, slider);
    changed(value);
  });
  input.addEventListener("input", () => {
    try {
      const value = parseValue(attribute, input.value);
      input.removeAttribute("aria-invalid");
      show(value, input);
      changed(value);
    } catch {
      input.setAttribute("aria-invalid", "true");
    }
  });
  return { element: field, set: (value) => show(value, null) };

  function show(value, source) {
    if (source !== slider && value !== null) slider.value = value;
    field.classList.toggle("missing", value === null);
    if (source === input) return;
    input.removeAttribute("aria-invalid");
    input.value = value === null ? "" : showValue(attribute, value);
    input.title = value === null ? "" : String(value);
    input.placeholder = missing;
  }
}

function rounded(value, step) {
  const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
  return Number(value.toFixed(Math.min(decimals, 20)));
}

function selectField(attribute, id, label, missing, changed) {
  const choices = [...attribute.categories.keys()];
  const text = (i) =>
    attribute.categories[i].length > 60
      ? `${attribute.categories[i].slice(0, 59)}…`
      : attribute.categories[i];
  const select = h(
    "select",
    { id },
    choices.map((i) => h("option", { value: i }, text(i))),
    h("option", { value: "" }, missing),
    h("option", { value: "unseen", hidden: true }, "never seen in training"),
  );
  let unseen = null;
  select.addEventListener("change", () => {
    if (select.value === "unseen") changed(unseen);
    else changed(select.value === "" ? null : attribute.categories[Number(select.value)]);
  });
  return {
    element: h("div", { class: "value" }, label, select),
    set(value) {
      const found = attribute.categories.indexOf(value);
      if (value !== null && found < 0) unseen = value;
      select.value = value === null ? "" : found < 0 ? "unseen" : String(found);
    },
  };
}

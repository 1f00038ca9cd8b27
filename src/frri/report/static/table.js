/**
 * The table of rules: search, filters, sorting; rows are drawn as they come into sight.
 */

import { classLabel, shareBar } from "./chart.js";
import { conditionChips } from "./chips.js";
import { announce, byId, h, keepingFocus, plain, put } from "./dom.js";
import { openedRule } from "./rule.js";
import { inSlices } from "./slices.js";
import { coverageOf } from "./store.js";
import { counted, percentText, ruleParts, shareText, weightName } from "./words.js";

/** Rows drawn at a time: about a screen full, so that a keystroke never waits for more. */
const CHUNK = 10;

const COLUMNS = [
  { key: "number", title: "Rule", of: (entry) => entry.number, help: "Its place in the model" },
  {
    key: "then",
    title: "Then",
    of: (entry, store) => store.classIndex(entry.rule.then),
    help: "The class it speaks for",
  },
  { key: "if", title: "If", of: null },
  {
    key: "coverage",
    title: "Coverage",
    of: coverageOf,
    down: true,
    help: "Share of the rows that it covers",
  },
  {
    key: "precision",
    title: "Precision",
    of: (entry) => entry.known.precision,
    down: true,
    help: "Share of the covered rows that are of its class",
  },
  {
    key: "confidence",
    title: "Confidence",
    of: (entry) => entry.rule.weight,
    down: true,
    help: "What a full match counts",
  },
  {
    key: "length",
    title: "Length",
    of: (entry) => entry.rule.if.length,
    help: "Number of conditions",
  },
  {
    key: "lift",
    title: "Lift",
    of: (entry) => entry.known.lift,
    down: true,
    help: "Precision divided by the share of its class",
  },
];

/**
 * Set the table up.
 *
 * @param {object} store
 * @param {object} actions what rows can do: see app.js
 * @returns {{open: function(number): void}}
 */
export function rulesView(store, actions) {
  const view = { sort: null, descending: false, shown: [], drawn: 0, open: new Set() };
  let drawnRows = new Map();
  const body = h("tbody", { role: "rowgroup" });
  const count = h("p", { class: "count", id: "rule-count" });
  const end = h("div", { class: "sentinel" });
  const controls = filterControls(store, () => refresh());
  const buttons = new Map();
  const weight = weightName(store.facts.model);
  const head = COLUMNS.map((column) => {
    const title = column.key === "confidence" ? weight : column.title;
    return headCell({ ...column, title }, buttons, () => sortBy(column));
  });
  const table = h(
    "table",
    { class: "rules", role: "table", "aria-describedby": "rule-count" },
    h("caption", { class: "hidden" }, "The rules of the model"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
    body,
  );
  const nothing = h(
    "p",
    { class: "nothing", hidden: true },
    "No rule matches. ",
    h("button", { type: "button", class: "link", onclick: clear }, "Show all rules"),
  );
  put(byId("rules-view"), controls.element, count, table, nothing, end);

  const sight = new IntersectionObserver(
    (seen) => {
      if (seen.some((one) => one.isIntersecting)) drawMore();
    },
    { rootMargin: "400px" },
  );
  window.addEventListener("beforeprint", () => drawMore(Infinity));
  store.subscribe(() => {
    drawnRows = new Map();
    controls.update();
    keepingFocus(body, () => refresh(view.drawn));
  });
  refresh();
  inSlices(store.state.entries, controls.prepare);

  return {
    /** Show a rule, opened. */
    open(number) {
      if (!store.entry(number)) return;
      if (!view.shown.some((entry) => entry.number === number)) clear();
      drawMore(Infinity);
      view.open.add(number);
      const row = rowOf(store.entry(number));
      row.update();
      row.main.scrollIntoView({ block: "center" });
      row.button.focus({ preventScroll: true });
    },
  };

  function clear() {
    controls.clear();
    refresh();
  }

  function sortBy(column) {
    const again = view.sort === column;
    view.descending = again ? !view.descending : Boolean(column.down);
    view.sort = column;
    for (const [key, button] of buttons) {
      const isSorted = key === column.key;
      button
        .closest("th")
        .setAttribute(
          "aria-sort",
          isSorted ? (view.descending ? "descending" : "ascending") : "none",
        );
    }
    refresh();
  }

  function refresh(atLeast = CHUNK) {
    const { entries } = store.state;
    const matching = entries.filter(controls.matcher(store));
    view.shown = view.sort ? sorted(matching, view, store) : matching;
    view.drawn = 0;
    body.replaceChildren();
    drawMore(Math.max(atLeast, CHUNK));
    nothing.hidden = view.shown.length > 0 || !entries.length;
    table.hidden = !view.shown.length;
    const text =
      matching.length === entries.length
        ? counted(entries.length, "rule")
        : `${matching.length} of ${counted(entries.length, "rule")}`;
    count.textContent = entries.length
      ? text
      : "This model has no rules: the shares of the classes in training decide everything.";
    announce(text);
  }

  function drawMore(most = CHUNK) {
    const next = view.shown.slice(view.drawn, view.drawn + most);
    view.drawn += next.length;
    body.append(...next.flatMap((entry) => rowOf(entry).elements()));
    // Watched anew, the end of the table reports again even if it never left the screen.
    sight.unobserve(end);
    if (view.drawn < view.shown.length) sight.observe(end);
  }

  function rowOf(entry) {
    if (!drawnRows.has(entry)) drawnRows.set(entry, ruleRow(store, entry, view, actions));
    return drawnRows.get(entry);
  }
}

function headCell(column, buttons, onclick) {
  const attributes = { role: "columnheader", scope: "col", class: `col-${column.key}` };
  if (!column.of) return h("th", attributes, column.title);
  const button = h(
    "button",
    { type: "button", title: column.help, onclick },
    column.title,
    h("span", { class: "arrow", "aria-hidden": "true" }),
  );
  buttons.set(column.key, button);
  // Browsers do not repeat buttons in the head of every printed page.
  const onPaper = h("span", { class: "paper", "aria-hidden": "true" }, column.title);
  return h("th", { ...attributes, "aria-sort": "none" }, button, onPaper);
}

/** Unknown values come last, whichever way the others run. */
function sorted(entries, { sort, descending }, store) {
  const keyed = entries.map((entry) => [sort.of(entry, store), entry]);
  const direction = descending ? -1 : 1;
  keyed.sort(([a], [b]) => {
    const [noA, noB] = [a ?? null, b ?? null].map((value) => value === null);
    if (noA || noB) return Number(noA) - Number(noB);
    return direction * (a - b);
  });
  return keyed.map(([, entry]) => entry);
}

/** Search box and selects, and the test that they stand for. */
function filterControls(store, changed) {
  const { model } = store.facts;
  const search = h("input", {
    type: "search",
    id: "search",
    placeholder: "Attribute, value, class or rule number",
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
  const textOf = ({ rule, number }) => {
    if (!texts.has(rule))
      texts.set(rule, `rule ${number} ${plain(ruleParts(model, rule))}`.toLowerCase());
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
    field("Class", classes),
    field("Uses", attributes),
    field("Precision", precision),
    originField,
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
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const label = classes.value === "" ? null : model.classes[Number(classes.value)];
      const attribute =
        attributes.value === "" ? null : model.attributes[Number(attributes.value)].name;
      return (entry) => {
        const { rule, known } = entry;
        if (label !== null && rule.then !== label) return false;
        if (attribute !== null && !rule.if.some((condition) => condition.attribute === attribute))
          return false;
        if (origin.value && (rule.origin ?? "learned") !== origin.value) return false;
        if (!precisionPasses(precision.value, known.precision)) return false;
        return words.every((word) => textOf(entry).includes(word));
      };
    },
  };
}

function precisionPasses(wanted, precision) {
  if (!wanted) return true;
  if (precision === null || precision === undefined) return false;
  return wanted.startsWith("<") ? precision < Number(wanted.slice(1)) : precision >= Number(wanted);
}

function option(value, text) {
  return h("option", { value }, text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

function field(label, control, extra = "") {
  return h("div", { class: `field ${extra}` }, h("label", { for: control.id }, label), control);
}

/** The row of a rule, and the one below it when it is opened; both are made when first needed. */
function ruleRow(store, entry, view, actions) {
  const { rule, known, number } = entry;
  const detailId = `rule-${number}-opened`;
  let detail = null;
  const button = h(
    "button",
    { type: "button", class: "opener", "aria-controls": detailId, "aria-expanded": "false" },
    h("span", { class: "hidden" }, "Rule "),
    number,
  );
  const coverage = coverageOf(entry, store);
  const main = h(
    "tr",
    { role: "row", class: "rule", onclick: (event) => toggleUnlessSelecting(event) },
    cell("number", "Rule", button, originBadge(rule)),
    cell("then", "Then", classLabel(store, rule.then)),
    cell("if", "If", conditionChips(store, rule)),
    cell("coverage", "Coverage", percentText(coverage), shareBar(coverage)),
    cell(
      "precision",
      "Precision",
      shareText(known.precision),
      known.precision === null || known.precision === undefined ? null : shareBar(known.precision),
    ),
    cell("confidence", weightName(store.facts.model), shareText(rule.weight)),
    cell("length", "Length", rule.if.length),
    cell(
      "lift",
      "Lift",
      known.lift === null || known.lift === undefined ? "–" : known.lift.toFixed(2),
    ),
  );
  const row = { main, button, elements, update };
  return row;

  function toggleUnlessSelecting(event) {
    const selecting = String(window.getSelection() ?? "");
    if (selecting || (event.target.closest("button") && !event.target.closest(".opener"))) return;
    if (view.open.has(number)) view.open.delete(number);
    else view.open.add(number);
    update();
  }

  function elements() {
    if (view.open.has(number) && !detail) detail = detailRow();
    const isOpen = view.open.has(number);
    button.setAttribute("aria-expanded", String(isOpen));
    main.classList.toggle("open", isOpen);
    return isOpen ? [main, detail] : [main];
  }

  function update() {
    const wanted = elements();
    if (wanted.length > 1) main.after(detail);
    else if (detail) detail.remove();
  }

  function detailRow() {
    return h(
      "tr",
      { role: "row", class: "opened", id: detailId },
      h("td", { role: "cell", colspan: COLUMNS.length }, openedRule(store, entry, actions)),
    );
  }
}

function cell(key, label, ...children) {
  return h("td", { role: "cell", class: `col-${key}`, "data-label": label }, children);
}

function originBadge(rule) {
  return rule.origin && rule.origin !== "learned"
    ? h("span", { class: "badge" }, rule.origin)
    : null;
}

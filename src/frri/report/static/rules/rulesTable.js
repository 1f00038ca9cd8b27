/**
 * The rules in words, each condition with a thin bar on the scale of its column; with search and sorting. Rows are
 * drawn as they come into sight.
 */

import { classColour, ruleLabel } from "../charts/chart.js";
import { scalesOnce } from "../charts/distributions.js";
import { rangeBar } from "../charts/rangeBar.js";
import { attributesByName, counted } from "../core/format.js";
import { actionButton, announce, byId, field, h, keepingFocus, option, put, sentence, span } from "../core/dom.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { kindOf, ownSeries } from "../model/kind.js";
import { joinedConditions, phrasesOf, searchText } from "../model/ruleText.js";
import { baseParts } from "../overview/provenance.js";
import { cell, statCells, statKeys, uncoveredCells } from "./ruleStats.js";
import { openedRule } from "./ruleView.js";
import { ordersOf, sorted } from "./sortOrders.js";

/** Rows drawn at a time: about a screen full, so that a keystroke never waits for more. */
const CHUNK = 20;

/**
 * Set the table up.
 *
 * @param {object} store
 * @param {object} actions what rows can do: see app.js
 * @returns {{open: function(number, boolean=): void, ready: Promise<boolean>}} the flag also opens the form that
 *   changes the rule; ready when what the first search and the first opened rule need is there
 */
export function rulesView(store, actions) {
  const orders = ordersOf(store);
  const { model } = store.facts;
  const view = { sort: orders[0], descending: false, shown: [], drawn: 0, open: new Set(), editing: new Set() };
  const texts = new Map();
  let drawnRows = new Map();
  const body = h("tbody", { role: "rowgroup" });
  const count = h("p", { class: "count", id: "rule-count" });
  const end = h("div", "sentinel");
  const order = h(
    "select",
    { id: "order", onchange: () => sortBy(orders[Number(order.value)]) },
    orders.map(({ name }, k) => option(String(k), `by ${name}`)),
  );
  const search = h("input", {
    type: "search",
    id: "search",
    placeholder: `Column, value, ${model.classes.length ? "class" : "number"} or rule number`,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => refresh(),
  });
  const known = new Map(orders.map((one) => [one.key, one]));
  const heading = h(
    "tr",
    { role: "row" },
    headCell(known.get("number"), sortBy),
    h("th", { role: "columnheader", scope: "col", class: "col-if" }, "If"),
    ["then", ...statKeys(store)].map((key) => headCell(known.get(key), sortBy)),
  );
  const table = h(
    "table",
    { class: "rules", role: "table", "aria-describedby": "rule-count" },
    h("caption", "hidden", "The rules of the model"),
    h("thead", { role: "rowgroup" }, heading),
    body,
  );
  const nothing = h(
    "p",
    { class: "nothing", hidden: true },
    "No rule matches. ",
    actionButton("Show all rules", clear, "link"),
  );
  put(
    byId("rules-view"),
    h(
      "div",
      { class: "filters", role: "search" },
      field("Search", search, "grow"),
      field("Order", order),
      actionButton("New rule", () => actions.addRule()),
      count,
    ),
    table,
    nothing,
    end,
  );

  const sight = new IntersectionObserver(
    (seen) => {
      if (seen.some((one) => one.isIntersecting)) drawMore();
    },
    { rootMargin: "400px" },
  );
  window.addEventListener("beforeprint", () => drawMore(Infinity));
  store.subscribe((_, about) => {
    drawnRows = new Map();
    keepingFocus(body, () => refresh(view.drawn));
    if (about !== null && !byId("panel-rules").hidden) reveal(about);
  });
  mark();
  refresh();
  // What the first search and the first opened rule need.
  const ready = forEachYielding(store.state.entries, (entry) => void textOf(entry)).then(() =>
    forEachYielding(store.state.entries, (entry) => void entry.cover),
  );

  return {
    ready,
    open(number, isEditing = false) {
      if (!store.entry(number)) return;
      if (!view.shown.some((entry) => entry.number === number)) clear();
      drawMore(Infinity);
      view.open.add(number);
      if (isEditing) view.editing.add(number);
      const row = rowOf(store.entry(number));
      row.update();
      row.main.scrollIntoView({ block: "center" });
      row.button.focus({ preventScroll: true });
    },
  };

  /** Bring a rule into sight that was just restored or changed. */
  function reveal(number) {
    const place = view.shown.findIndex((entry) => entry.number === number);
    if (place < 0) return;
    if (place >= view.drawn) drawMore(place + 1 - view.drawn);
    rowOf(view.shown[place]).main.scrollIntoView({ block: "nearest" });
  }

  function clear() {
    search.value = "";
    refresh();
  }

  function sortBy(column) {
    const again = view.sort.key === column.key;
    view.descending = again ? !view.descending : Boolean(column.down);
    view.sort = column;
    mark();
    refresh();
  }

  function mark() {
    for (const one of heading.querySelectorAll("[data-key]")) {
      const way = view.descending ? "descending" : "ascending";
      one.setAttribute("aria-sort", one.dataset.key === view.sort.key ? way : "none");
    }
    order.value = String(orders.indexOf(view.sort));
  }

  function refresh(atLeast = CHUNK) {
    const { entries } = store.state;
    const matching = entries.filter(finder());
    view.shown = sorted(matching, view);
    view.drawn = 0;
    body.replaceChildren();
    drawMore(Math.max(atLeast, CHUNK));
    nothing.hidden = view.shown.length > 0 || !entries.length;
    table.hidden = !view.shown.length;
    const part = matching.length === entries.length ? "" : `${matching.length} of `;
    const empty = kindOf(model).isNumber ? "the base answers everything" : "the frequencies of the classes in training decide everything";
    count.textContent = entries.length ? `${part}${counted(entries.length, "rule")}` : `This model has no rules: ${empty}.`;
    announce(count.textContent);
  }

  /** The number of a rule finds that rule; anything else the rules whose words hold every word of it. */
  function finder() {
    const typed = searched(search.value.trim());
    const [, number] = /^(?:rule |#)?(\d+)$/.exec(typed) ?? [];
    if (store.state.entries.some((entry) => String(entry.number) === number))
      return (entry) => String(entry.number) === number;
    const words = typed.split(/\s+/).filter(Boolean);
    return (entry) => words.every((word) => textOf(entry).includes(word));
  }

  function textOf(entry) {
    if (!texts.has(entry)) texts.set(entry, searched(searchText(store, entry)));
    return texts.get(entry);
  }

  function drawMore(most = CHUNK) {
    const next = view.shown.slice(view.drawn, view.drawn + most);
    view.drawn += next.length;
    body.append(...next.flatMap((entry) => rowOf(entry).elements()));
    // Watched again, the end of the table reports again even if it never left the screen.
    sight.unobserve(end);
    if (view.drawn < view.shown.length) sight.observe(end);
    else if (view.shown.length === store.state.entries.length && !body.querySelector(".nobody"))
      body.append(...lastRow(store, actions));
  }

  function rowOf(entry) {
    if (!drawnRows.has(entry)) drawnRows.set(entry, ruleRow(store, entry, view, actions));
    return drawnRows.get(entry);
  }
}

/** Signs as they are typed are those that are shown. */
function searched(text) {
  return text.toLowerCase().replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("!=", "≠").replaceAll("−", "-");
}

function headCell(column, sortBy) {
  const arrow = h("span", { class: "arrow", "aria-hidden": "true" });
  const button = h("button", { type: "button", title: column.help, onclick: () => sortBy(column) }, column.title, arrow);
  // Browsers do not repeat buttons in the head of every printed page.
  const onPaper = h("span", { class: "paper", "aria-hidden": "true" }, column.title);
  const attributes = { role: "columnheader", scope: "col", class: `col-${column.key}`, "data-key": column.key };
  return h("th", { ...attributes, "aria-sort": "none" }, button, onPaper);
}

/** The row of a rule, and the one below it when it is opened; that is made when first needed. */
function ruleRow(store, entry, view, actions) {
  const { rule, number } = entry;
  const detailId = `rule-${number}-opened`;
  let detail = null;
  const button = h(
    "button",
    { type: "button", class: "opener", "aria-controls": detailId, "aria-expanded": "false" },
    span("hidden", "Rule "),
    number,
  );
  const main = h(
    "tr",
    {
      role: "row",
      "data-rule": number,
      class: `rule${store.state.decides?.get(number)?.rows === 0 ? " idle" : ""}`,
      onclick: toggleUnlessSelecting,
    },
    cell("number", "Rule", button, originBadge(rule)),
    cell("if", "If", conditionList(store, entry)),
    cell("then", "Then", ruleLabel(store, rule)),
    statCells(store, entry),
  );
  return { main, button, elements, update };

  function toggleUnlessSelecting(event) {
    const selecting = String(window.getSelection() ?? "");
    if (selecting || (event.target.closest("button") && !event.target.closest(".opener"))) return;
    if (view.open.has(number)) view.open.delete(number);
    else view.open.add(number);
    update();
  }

  function elements() {
    const isOpen = view.open.has(number);
    if (isOpen && !detail)
      detail = h(
        "tr",
        { role: "row", class: "opened", id: detailId },
        h("td", { role: "cell", colspan: main.childElementCount }, openedRule(store, entry, actions, view.editing)),
      );
    button.setAttribute("aria-expanded", String(isOpen));
    main.classList.toggle("open", isOpen);
    return isOpen ? [main, detail] : [main];
  }

  function update() {
    const wanted = elements();
    if (wanted.includes(detail)) main.after(detail);
    else if (detail) detail.remove();
  }
}

/** The conditions in words, a bar below each. */
function conditionList(store, entry) {
  const { facts } = store;
  const { rule } = entry;
  if (!rule.if.length) return h("span", {}, facts.model.semantics.name === "first-match" ? "otherwise" : "always");
  const scales = scalesOnce(store);
  const attributes = attributesByName(facts.model);
  const colour = classColour(facts, ownSeries(facts, rule));
  return h(
    "ul",
    "ifs",
    phrasesOf(store, entry).map(({ parts, places }) => {
      const conditions = joinedConditions(places.map((k) => rule.if[k]));
      const bars = conditions.map((one) => rangeBar(one, attributes.get(one.attribute), scales.get(one.attribute), colour));
      return h("li", {}, span("name", sentence(parts)), bars);
    }),
  );
}

/** The last row of the table: the base that rules add to, or the rows that no rule covers. */
function lastRow(store, actions) {
  const { addsVotes, addsNumbers } = kindOf(store.facts.model);
  if (addsVotes || addsNumbers)
    return [h("tr", { role: "row", class: "nobody" }, h("td", { role: "cell", colspan: 3 + statKeys(store).length }, "Base: ", baseParts(store.facts)))];
  const beside = uncoveredCells(store);
  if (!beside) return [];
  const link = actionButton("No rule", () => actions.showCases("uncovered"), "link");
  return [
    h(
      "tr",
      { role: "row", class: "nobody" },
      h("td", { role: "cell", colspan: 3 }, link, span("muted", " covers these rows")),
      beside,
    ),
  ];
}

function originBadge(rule) {
  return rule.origin && rule.origin !== "learned" ? span("badge", rule.origin) : null;
}

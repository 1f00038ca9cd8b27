/**
 * The rules: a matrix with search, filters and sorting; rows are drawn as they come into sight.
 */

import { statCells, statKeys, cell, uncoveredCells } from "./ruleStats.js";
import { roleOf } from "../model/contributions.js";
import { ruleLabel } from "../charts/chart.js";
import { announce, byId, h, keepingFocus, named, put, sentence } from "../core/dom.js";
import { field, filterControls, option } from "./filters.js";
import { columnHead, matrixCell, matrixColumns, placeOf, restCell } from "./matrix.js";
import { predictsNumbers } from "../model/regression.js";
import { ordersOf, sorted } from "./sortOrders.js";
import { ruleParts } from "../text/ruleText.js";
import { openedRule } from "./ruleView.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { addsVotes } from "../model/votes.js";
import { counted, signedText } from "../core/format.js";

/** Rows drawn at a time: about a screen full, so that a keystroke never waits for more. */
const CHUNK = 20;

/**
 * Set the table up.
 *
 * @param {object} store
 * @param {object} actions what rows can do: see app.js
 * @returns {{open: function(number): void}}
 */
export function rulesView(store, actions) {
  const orders = ordersOf(store);
  const { model } = store.facts;
  const isList = model.semantics.name === "first-match";
  const first = orders.find(({ key }) => key === (isList ? "number" : "decides"));
  const view = {
    sort: first ?? orders.find(({ key }) => key === "coverage"),
    descending: !isList,
    shown: [],
    drawn: 0,
    open: new Set(),
    columns: [],
    hasRest: false,
    onPaper: false,
  };
  let drawnRows = new Map();
  const body = h("tbody", { role: "rowgroup" });
  const heading = h("thead", { role: "rowgroup" });
  const count = h("p", { class: "count", id: "rule-count" });
  const end = h("div", { class: "sentinel" });
  const order = h(
    "select",
    { id: "order", onchange: () => sortBy(orders[Number(order.value)]) },
    orders.map(({ name }, k) => option(String(k), `by ${name}`)),
  );
  const chooser = matrixColumns(store, 100 * statKeys(store).length, () => relayout());
  const controls = filterControls(
    store,
    () => refresh(),
    field("Order", order),
    chooser.element,
    count,
  );
  const table = h(
    "table",
    { class: addsVotes(model) ? "rules voting" : "rules", role: "table", "aria-describedby": "rule-count" },
    h("caption", { class: "hidden" }, "The rules of the model, attribute by attribute"),
    heading,
    body,
  );
  const nothing = h(
    "p",
    { class: "nothing", hidden: true },
    "No rule matches. ",
    h("button", { type: "button", class: "link", onclick: clear }, "Show all rules"),
  );
  put(byId("rules-view"), controls.element, table, nothing, end);

  const sight = new IntersectionObserver(
    (seen) => {
      if (seen.some((one) => one.isIntersecting)) drawMore();
    },
    { rootMargin: "400px" },
  );
  window.addEventListener("beforeprint", () => {
    view.onPaper = true;
    drawMore(Infinity);
    for (const { sayOnPaper } of drawnRows.values()) sayOnPaper();
  });
  store.subscribe((_, about) => {
    if (view.hasRest !== restOf(store, view.columns)) relayout();
    drawnRows = new Map();
    controls.update();
    keepingFocus(body, () => refresh(view.drawn));
    if (about !== null && !byId("panel-rules").hidden) reveal(about);
  });
  relayout();
  forEachYielding(store.state.entries, controls.prepare);

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

  /** Bring a rule into sight that was just restored or changed. */
  function reveal(number) {
    const place = view.shown.findIndex((entry) => entry.number === number);
    if (place < 0) return;
    if (place >= view.drawn) drawMore(place + 1 - view.drawn);
    rowOf(view.shown[place]).main.scrollIntoView({ block: "nearest" });
  }

  function clear() {
    controls.clear();
    refresh();
  }

  function relayout() {
    view.columns = chooser.shown;
    view.hasRest = restOf(store, view.columns);
    drawnRows = new Map();
    put(heading, headRow());
    mark();
    refresh();
  }

  function headRow() {
    const known = new Map(orders.map((one) => [one.key, one]));
    const beside = statKeys(store).map((key) => headCell(known.get(key), sortBy));
    const attributes = view.columns.map((name) => {
      const sorting = {
        key: `attribute ${name}`,
        title: name,
        help: `Order the rules by where their condition on ${name} lies`,
        of: (entry) => placeOf(store, entry.rule, name),
      };
      return headCell(sorting, sortBy, (button) => columnHead(store, name, button));
    });
    return h(
      "tr",
      { role: "row" },
      ["number", "then"].map((key) => headCell(known.get(key), sortBy)),
      attributes,
      view.hasRest
        ? h(
            "th",
            { role: "columnheader", scope: "col", class: "col-rest", title: "Conditions on others" },
            "more",
          )
        : null,
      beside,
    );
  }

  function sortBy(column) {
    const again = view.sort.key === column.key;
    view.descending = again ? !view.descending : Boolean(column.down);
    view.sort = column;
    mark();
    refresh();
  }

  function mark() {
    for (const cell of heading.querySelectorAll("[data-key]")) {
      const isSorted = cell.dataset.key === view.sort.key;
      const way = view.descending ? "descending" : "ascending";
      cell.setAttribute("aria-sort", isSorted ? way : "none");
    }
    order.value = String(orders.findIndex(({ key }) => key === view.sort.key));
  }

  function refresh(atLeast = CHUNK) {
    const { entries } = store.state;
    const matching = entries.filter(controls.matcher(store));
    view.shown = sorted(matching, view);
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
      : predictsNumbers(model)
        ? "This model has no rules: the base answers everything."
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
    else if (view.shown.length === store.state.entries.length && !body.querySelector(".nobody"))
      body.append(...uncoveredRow(store, view, actions));
  }

  function rowOf(entry) {
    if (!drawnRows.has(entry)) drawnRows.set(entry, ruleRow(store, entry, view, actions));
    return drawnRows.get(entry);
  }
}

/** Whether rules have conditions on attributes that are no columns. */
function restOf(store, columns) {
  const shown = new Set(columns);
  return store.state.entries.some(({ rule }) =>
    rule.if.some((condition) => !shown.has(condition.attribute)),
  );
}

function headCell(column, sortBy, around = (button) => button) {
  const button = h(
    "button",
    { type: "button", title: column.help, onclick: () => sortBy(column) },
    breakable(column.title),
    h("span", { class: "arrow", "aria-hidden": "true" }),
  );
  const extra = column.key.startsWith("attribute ") ? "col-attribute" : `col-${column.key}`;
  // Browsers do not repeat buttons in the head of every printed page.
  const onPaper = h("span", { class: "paper", "aria-hidden": "true" }, named(column.title));
  return h(
    "th",
    { role: "columnheader", scope: "col", class: extra, "data-key": column.key, "aria-sort": "none" },
    around(button),
    onPaper,
  );
}

/** A name that may go on in the next line after a sign. */
function breakable(name) {
  const parts = String(name).split(/(?<=[_/.:-])/);
  return h("bdi", { class: "name" }, parts.flatMap((part, k) => (k ? [h("wbr"), part] : [part])));
}

/** The row of a rule, and the one below it when it is opened; both are made when first needed. */
function ruleRow(store, entry, view, actions) {
  const { rule, number } = entry;
  const detailId = `rule-${number}-opened`;
  let [detail, said] = [null, null];
  const button = h(
    "button",
    { type: "button", class: "opener", "aria-controls": detailId, "aria-expanded": "false" },
    h("span", { class: "hidden" }, "Rule "),
    number,
  );
  const shown = new Set(view.columns);
  const main = h(
    "tr",
    {
      role: "row",
      "data-rule": number,
      class: `rule${isIdle(store, entry) ? " idle" : ""}`,
      onclick: (event) => toggleUnlessSelecting(event),
    },
    cell("number", "Rule", button, originBadge(rule)),
    cell("then", "Then", saidLabel(store, rule)),
    view.columns.map((name) => matrixCell(store, rule, name)),
    view.hasRest ? restCell(store, rule, shown) : null,
    statCells(store, entry),
  );
  return { main, button, elements, update, sayOnPaper };

  function toggleUnlessSelecting(event) {
    const selecting = String(window.getSelection() ?? "");
    if (selecting || (event.target.closest("button") && !event.target.closest(".opener"))) return;
    if (view.open.has(number)) view.open.delete(number);
    else view.open.add(number);
    update();
  }

  function elements() {
    if (view.open.has(number) && !detail) detail = below("opened", detailId, openedRule(store, entry, actions));
    const isOpen = view.open.has(number);
    button.setAttribute("aria-expanded", String(isOpen));
    main.classList.toggle("open", isOpen);
    if (view.onPaper) said ??= sentenceRow();
    return [main, said, isOpen && detail].filter(Boolean);
  }

  function update() {
    const wanted = elements();
    if (wanted.includes(detail)) (said ?? main).after(detail);
    else if (detail) detail.remove();
  }

  /** On paper nothing can be pointed at: the whole rule is said in words. */
  function sayOnPaper() {
    if (said || !main.isConnected) return;
    said = sentenceRow();
    main.after(said);
  }

  function sentenceRow() {
    return below("said", null, h("p", {}, sentence(ruleParts(store.facts.model, rule))));
  }

  function below(extra, id, content) {
    return h(
      "tr",
      { role: "row", class: extra, id },
      h("td", { role: "cell", colspan: main.childElementCount }, content),
    );
  }
}

/** The rows that are due to no rule, as the last row of the matrix. */
function uncoveredRow(store, view, actions) {
  const beside = uncoveredCells(store);
  if (!beside) return [];
  const { nobody, otherwise } = roleOf(store.facts.model);
  const open = () => actions.showCases({ rule: 0 });
  return [
    h(
      "tr",
      { role: "row", class: "nobody" },
      h(
        "td",
        { role: "cell", colspan: 2 + view.columns.length + Number(view.hasRest) },
        h("button", { type: "button", class: "link", onclick: open }, nobody),
        h("span", { class: "muted" }, ` ${otherwise}`),
      ),
      beside,
    ),
  ];
}

/** Whether a rule has no say: one that carries nothing still has its part in answers. */
function isIdle(store, { number }) {
  return roleOf(store.facts.model).isAlone && store.state.decides?.get(number)?.rows === 0;
}

function saidLabel(store, rule) {
  const label = ruleLabel(store, rule);
  if (!addsVotes(store.facts.model) || rule.votes) return label;
  return [label, h("span", { class: "muted vote" }, signedText(rule.weight))];
}

function originBadge(rule) {
  return rule.origin && rule.origin !== "learned"
    ? h("span", { class: "badge" }, rule.origin)
    : null;
}

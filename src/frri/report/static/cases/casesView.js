/**
 * Cases: the embedded rows, filtered by what was decided about them, searched by name and sorted by any column. A row
 * opens in What-if.
 */

import { answerLabel } from "../charts/chart.js";
import { rowTable } from "../charts/rowTable.js";
import { scatterPicture } from "../charts/scatter.js";
import { actionButton, announce, byId, field, h, keepingFocus, muted, option, put, scrolling, span } from "../core/dom.js";
import { counted, whole } from "../core/format.js";
import { kindOf, shownMove } from "../model/kind.js";
import { confusionOf } from "../model/measures.js";
import { usedByRank } from "../model/ranking.js";
import { sortedBy } from "../rules/sortOrders.js";

const CHUNK = 50;
const MOST_COLUMNS = 6;
/** Confusions that have a filter of their own. */
const MOST_CONFUSIONS = 30;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{show: function(string): void, refresh: function(): void}} show takes the key of a filter: "uncovered",
 *   or positions of classes as "1-0", rows of the first that are decided as the second
 */
export function casesView(store, actions) {
  const { rows, facts } = store;
  const place = byId("cases-view");
  if (!rows) {
    put(place, muted("The page has no rows: give the report data to see them."));
    return { show() {}, refresh() {} };
  }
  const kind = caseKind(store);
  const columns = usedByRank(facts).slice(0, MOST_COLUMNS);
  const view = { sort: kind.sort, descending: true, drawn: CHUNK };
  let seen = null;
  let picture = null;
  const filter = h("select", { id: "case-filter", onchange: restart });
  const search = h("input", { type: "search", id: "case-search", placeholder: "Name of a row", autocomplete: "off", oninput: restart });
  const said = h("p", "count");
  const list = scrolling("Rows");
  const pictureBox = h("figure", "picture");
  const more = actionButton("More rows", () => {
    view.drawn += CHUNK;
    draw();
  });
  put(
    place,
    h("div", "filters", field("Which rows", filter), field("Search", search), said),
    h("div", { class: rows.truth ? "cases pictured" : "cases" }, h("div", {}, list, more), rows.truth ? pictureBox : null),
  );
  store.subscribe(() => {
    if (!byId("panel-cases").hidden) refresh();
  });
  return {
    show(which) {
      fill();
      search.value = "";
      filter.value = which;
      restart();
    },
    refresh() {
      if (seen !== store.state) refresh();
    },
  };

  function refresh() {
    fill();
    draw();
  }

  /** The filters of the state that is shown. */
  function fill() {
    if (seen === store.state) return;
    seen = store.state;
    const before = filter.value;
    put(filter, [...kind.filters()].map(([key, { title }]) => option(key, title)));
    filter.value = before;
    if (filter.selectedIndex < 0) filter.selectedIndex = 0;
    if (!rows.truth) return;
    picture = scatterPicture(store, (i) => actions.tryRow(i));
    put(pictureBox, picture.element, h("figcaption", "muted", "Predicted against true: on the line both are the same."));
  }

  function restart() {
    view.drawn = CHUNK;
    draw();
  }

  function draw() {
    const { passes } = kind.filters().get(filter.value);
    const wanted = search.value.trim().toLowerCase();
    const found = Array.from({ length: rows.n }, (_, i) => i).filter((i) => passes(i) && rows.name(i).toLowerCase().includes(wanted));
    const shown = view.sort ? sortedBy(found, keyOf(view.sort), view.descending) : found;
    const part = found.length === rows.n ? "" : `${whole(found.length)} of `;
    said.textContent = `${part}${counted(rows.n, facts.data.sampled ? "embedded row" : "row")}`;
    announce(said.textContent);
    const table = () =>
      rowTable(store, actions, { shown: shown.slice(0, view.drawn), columns, known: kind.known, extra: kind.extra, heading });
    keepingFocus(list, () => put(list, found.length ? table() : muted("There is none.")));
    more.hidden = found.length <= view.drawn;
    picture?.show(found);
  }

  function heading(key, title) {
    const isSorted = view.sort === key;
    const arrow = isSorted ? (view.descending ? " ↓" : " ↑") : "";
    const way = isSorted ? ` (${view.descending ? "descending" : "ascending"})` : "";
    const sort = () => {
      view.descending = isSorted ? !view.descending : key !== "Row";
      view.sort = key;
      restart();
    };
    const button = actionButton("", sort, "sorter");
    put(button, title, h("span", { "aria-hidden": "true" }, arrow), span("hidden", way));
    return button;
  }

  function keyOf(key) {
    if (key === "Row") return (i) => (facts.data.names ? rows.name(i) : i);
    const known = kind.known.find(({ title }) => title === key);
    if (known) return known.of;
    const column = rows.columns[Number(key)];
    return (i) => (Number.isNaN(column[i]) ? null : column[i]);
  }
}

/** What a kind of models shows of rows, which of them it filters, and what they are sorted by at first. */
function caseKind(store) {
  const { rows, facts } = store;
  const { classes } = facts.model;
  /** @type {[string, object]} */
  const uncovered = ["uncovered", { title: "Rows that no rule covers", passes: (i) => !store.state.counts[i] }];
  /** @type {[string, object]} */
  const all = ["all", { title: "All rows", passes: () => true }];
  if (kindOf(facts.model).isNumber) {
    const errorOf = (i) => store.state.answers[i] - rows.truth[i];
    const predicted = { title: "Predicted", cell: (i) => answerLabel(store, store.state.answers[i]), of: (i) => store.state.answers[i] };
    if (!rows.truth) return { known: [predicted], filters: () => new Map([all, uncovered]), sort: null };
    /** @type {Array<[string, object]>} */
    const filters = [
      all,
      ["high", { title: "Predicted too high", passes: (i) => errorOf(i) > 0 }],
      ["low", { title: "Predicted too low", passes: (i) => errorOf(i) < 0 }],
      uncovered,
    ];
    return {
      known: [
        { title: "Is", cell: (i) => answerLabel(store, rows.truth[i]), of: (i) => rows.truth[i] },
        predicted,
        { title: "Error", cell: (i) => shownMove(facts, errorOf(i)), of: (i) => Math.abs(errorOf(i)) },
      ],
      filters: () => new Map(filters),
      sort: "Error",
    };
  }
  const decided = (i) => store.state.decided[i];
  const isWrong = (i) => rows.classes && rows.classes[i] !== decided(i);
  const label = (c) => answerLabel(store, classes[c]);
  const known = [
    rows.classes && { title: "Is", cell: (i) => label(rows.classes[i]), of: (i) => rows.classes[i] },
    {
      title: "Decided",
      cell: (i) => [label(decided(i)), isWrong(i) ? span("fails", " wrong") : null],
      of: decided,
    },
    store.state.deciding && {
      title: "Rule",
      cell: (i) => (store.state.deciding[i] ? `rule ${store.state.deciding[i]}` : "none"),
      of: (i) => store.state.deciding[i],
    },
  ].filter(Boolean);
  return { known, extra: (i) => (isWrong(i) ? "wrong-row" : null), filters, sort: null };

  function filters() {
    if (!rows.classes) return new Map([all, uncovered]);
    /** @type {Array<[string, object]>} */
    const cells = confusionOf(store.state, rows, classes.length)
      .sort((a, b) => Number(a[0] === a[1]) - Number(b[0] === b[1]) || b[2] - a[2])
      .slice(0, MOST_CONFUSIONS)
      .map(([truth, called, n]) => {
        const title = truth === called ? `${classes[truth]}, decided correctly` : `${classes[truth]} called ${classes[called]}`;
        return [`${truth}-${called}`, { title: `${title} (${n})`, passes: (i) => rows.classes[i] === truth && decided(i) === called }];
      });
    return new Map([all, ["wrong", { title: "Decided wrongly", passes: isWrong }], ...cells, uncovered]);
  }
}

/**
 * Cases: the embedded rows, filtered by what was decided about them, as a list and as a map. A row opens in
 * What-if.
 */

import { roleOf } from "./carrying.js";
import { caseMap } from "./casemap.js";
import { classLabel } from "./chart.js";
import { actionButton, announce, byId, h, named, put } from "./dom.js";
import { option } from "./filters.js";
import { speaksFor } from "./ordered.js";
import { usedByRank } from "./ranking.js";
import { counted, showValue } from "./words.js";

const CHUNK = 50;
const MOST_COLUMNS = 5;

/** Which rows a filter lets pass, by the state that is shown. */
const FILTERS = {
  all: { title: "All rows", passes: () => true },
  wrong: {
    title: "Decided wrongly",
    passes: ({ rows, state }, i) => rows.classes[i] !== state.decided[i],
    needsClasses: true,
  },
  uncovered: { title: "No rule covers them", passes: ({ state }, i) => !state.counts[i] },
  contested: { title: "Rules for other classes hold, too", passes: isContested },
};

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{show: function(object): void, refresh: function(): void}} show takes {truth, decided}, positions
 *   of classes, or {rule}, the number of one that decides, 0 for none
 */
export function casesView(store, actions) {
  const { rows, facts } = store;
  const place = byId("cases-view");
  if (!rows) {
    put(place, h("p", { class: "muted" }, "No rows came with this page: give the report data to see them."));
    return { show() {}, refresh() {} };
  }
  const role = roleOf(facts.model);
  let cell = null;
  let drawn = CHUNK;
  let seen = null;
  const kinds = Object.keys(FILTERS).filter((key) => rows.classes || !FILTERS[key].needsClasses);
  const filter = h(
    "select",
    { id: "case-filter", onchange: () => restart(null) },
    kinds.map((key) => option(key, FILTERS[key].title)),
  );
  const ruled = h("select", { id: "case-rule", onchange: () => restart(cell) });
  const said = h("p", { class: "count", role: "status" });
  const back = actionButton(
    "All of them",
    () => {
      filter.value = "all";
      ruled.value = "";
      restart(null);
    },
    "link",
  );
  const list = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rows" });
  const more = actionButton("More rows", () => {
    drawn += CHUNK;
    draw();
  });
  const map = caseMap(store, (i) => actions.tryRow(i));
  put(
    place,
    h(
      "div",
      { class: "filters" },
      h("div", { class: "field" }, h("label", { for: "case-filter", class: "hidden" }, "Which rows"), filter),
      h("div", { class: "field" }, h("label", { for: "case-rule", class: "hidden" }, "Decided by"), ruled),
      said,
      back,
    ),
    h("div", { class: "cases" }, h("div", {}, list, more), map.element),
  );
  store.subscribe(() => {
    if (!byId("panel-cases").hidden) refresh();
  });
  return {
    show({ truth = null, decided = null, rule = null }) {
      filter.value = "all";
      fillRules();
      ruled.value = rule === null ? "" : String(rule);
      restart(truth === null ? null : { truth, decided });
    },
    refresh,
  };

  function refresh() {
    if (seen === store.state) return;
    fillRules();
    draw();
  }

  function fillRules() {
    if (seen === store.state) return;
    seen = store.state;
    const before = ruled.value;
    put(
      ruled,
      option("", `${role.past[0].toUpperCase()}${role.past.slice(1)} by any rule`),
      store.state.entries.map(({ number }) => option(String(number), `by rule ${number}`)),
      store.state.deciding.includes(0) ? option("0", `by ${role.nobody}`) : null,
    );
    ruled.value = before;
    if (ruled.selectedIndex < 0) ruled.value = "";
  }

  function restart(wanted) {
    cell = wanted;
    drawn = CHUNK;
    draw();
  }

  function draw() {
    const found = [];
    const { passes } = FILTERS[filter.value];
    const number = ruled.value === "" ? null : Number(ruled.value);
    for (let i = 0; i < rows.n; i += 1) {
      if (cell && (rows.classes[i] !== cell.truth || store.state.decided[i] !== cell.decided)) continue;
      if (number !== null && store.state.deciding[i] !== number) continue;
      if (passes(store, i)) found.push(i);
    }
    back.hidden = !cell && filter.value === "all" && number === null;
    const { classes } = facts.model;
    put(
      said,
      `${found.length === rows.n ? "" : `${found.length.toLocaleString("en")} of `}${counted(rows.n, facts.data.sampled ? "embedded row" : "row")}`,
      cell ? [": ", named(classes[cell.truth]), " taken for ", named(classes[cell.decided])] : null,
    );
    if (cell && cell.truth === cell.decided)
      put(said, `${counted(found.length, "row")}: `, named(classes[cell.truth]), ", decided rightly");
    announce(said.textContent);
    put(list, found.length ? table(found.slice(0, drawn)) : h("p", { class: "muted" }, "There is none."));
    more.hidden = found.length <= drawn;
    map.show(found);
  }

  function table(shown) {
    const columns = usedByRank(store.facts).slice(0, MOST_COLUMNS);
    return h(
      "table",
      { class: "small" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Row", rows.classes && "Is", "Decided", store.state.deciding && (role.isAlone ? "By" : "Carried by")]
            .filter(Boolean)
            .map((title) => h("th", { scope: "col" }, title)),
          columns.map((j) => h("th", { scope: "col" }, named(facts.model.attributes[j].name))),
        ),
      ),
      h("tbody", {}, shown.map((i) => line(i, columns))),
    );
  }

  function line(i, columns) {
    const { state } = store;
    const values = rows.at(i);
    const { classes, attributes } = facts.model;
    const isWrong = rows.classes && rows.classes[i] !== state.decided[i];
    const by = state.deciding && (state.deciding[i] ? `rule ${state.deciding[i]}` : role.nobody);
    return h(
      "tr",
      { class: isWrong ? "wrong-row" : null },
      h("td", {}, actionButton(rows.name(i), () => actions.tryRow(i), "link", `Row ${rows.name(i)} in What-if`)),
      rows.classes ? h("td", {}, classLabel(store, classes[rows.classes[i]])) : null,
      h("td", {}, classLabel(store, classes[state.decided[i]]), isWrong ? h("span", { class: "fails" }, " wrong") : null),
      by ? h("td", {}, by) : null,
      columns.map((j) => h("td", {}, named(showValue(attributes[j], values[j])))),
    );
  }
}

/** Whether a rule for another class than the one decided for covers a row. */
function isContested({ state }, i) {
  return state.entries.some(
    ({ cover, rule }) => cover[i] && speaksFor(state.model, rule)(state.decided[i]) === false,
  );
}

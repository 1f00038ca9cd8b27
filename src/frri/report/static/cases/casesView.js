/**
 * Cases: the embedded rows, filtered by what was decided about them, as a list and as a map. A row opens in
 * What-if.
 */

import { roleOf } from "../model/contributions.js";
import { caseList } from "./caseList.js";
import { caseMap } from "./caseMap.js";
import { classLabel } from "../charts/chart.js";
import { actionButton, byId, h, named, put } from "../core/dom.js";
import { field, option } from "../rules/filters.js";
import { speaksFor } from "../model/ordinal.js";
import { counted } from "../core/format.js";

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
  let seen = null;
  const kinds = Object.entries(FILTERS).filter(([, { needsClasses }]) => rows.classes || !needsClasses);
  const list = caseList(store, actions, Object.fromEntries(kinds), { draw, chosen: () => restart(null) });
  const { filter } = list;
  const ruled = h("select", { id: "case-rule", onchange: () => restart(cell) });
  const back = actionButton(
    "All of them",
    () => {
      filter.value = "all";
      ruled.value = "";
      restart(null);
    },
    "link",
  );
  const map = caseMap(store, (i) => actions.tryRow(i));
  put(
    place,
    h(
      "div",
      { class: "filters" },
      field("Which rows", filter),
      field("Decided by", ruled),
      list.said,
      back,
    ),
    h("div", { class: "cases" }, list.element, map.element),
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
    list.restart();
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
    list.show(found, { titles: titles(), cells, extra: (i) => (isWrong(i) ? "wrong-row" : null) }, cellText(found));
    map.show(found);
  }

  /** What is said of the rows of a cell of the confusion matrix; of others only their number. */
  function cellText(found) {
    if (!cell) return undefined;
    const [truth, decided] = [cell.truth, cell.decided].map((c) => named(facts.model.classes[c]));
    if (cell.truth === cell.decided) return [`${counted(found.length, "row")}: `, truth, ", decided rightly"];
    return [`${list.numberOf(found)}: `, truth, " taken for ", decided];
  }

  function titles() {
    const by = role.isAlone ? "By" : "Carried by";
    return [rows.classes && "Is", "Decided", store.state.deciding && by].filter(Boolean);
  }

  function cells(i) {
    const { deciding, decided } = store.state;
    const { classes } = facts.model;
    return [
      rows.classes ? classLabel(store, classes[rows.classes[i]]) : null,
      [classLabel(store, classes[decided[i]]), isWrong(i) ? h("span", { class: "fails" }, " wrong") : null],
      deciding ? (deciding[i] ? `rule ${deciding[i]}` : role.nobody) : null,
    ];
  }

  function isWrong(i) {
    return rows.classes && rows.classes[i] !== store.state.decided[i];
  }
}

/** Whether a rule for another class than the one decided for covers a row. */
function isContested({ state }, i) {
  return state.entries.some(
    ({ cover, rule }) => cover[i] && speaksFor(state.model, rule)(state.decided[i]) === false,
  );
}

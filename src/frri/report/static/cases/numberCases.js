/** Cases of rules that predict numbers: the embedded rows by how far off they are, as a list and a picture. */

import { caseList } from "./caseList.js";
import { answerLabel } from "../charts/chart.js";
import { byId, h, put } from "../core/dom.js";
import { field } from "../rules/filters.js";
import { shownMove } from "../model/regression.js";
import { scatterPicture } from "../charts/scatter.js";

/** Which rows a filter lets pass; those that need the truth are ordered by how far off they are. */
const FILTERS = {
  far: { title: "Off by most", passes: () => true, needsTruth: true },
  high: { title: "Predicted too high", passes: ({ error }) => error > 0, needsTruth: true },
  low: { title: "Predicted too low", passes: ({ error }) => error < 0, needsTruth: true },
  all: { title: "All rows", passes: () => true },
  uncovered: { title: "No rule covers them", passes: ({ rules }) => !rules },
};

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{show: function(): void, refresh: function(): void}} to be called when it is looked at
 */
export function numberCases(store, actions) {
  const { rows, facts } = store;
  const place = byId("cases-view");
  if (!rows) {
    put(place, h("p", { class: "muted" }, "No rows came with this page: give the report data to see them."));
    return { show() {}, refresh() {} };
  }
  let seen = null;
  const kinds = Object.entries(FILTERS).filter(([, { needsTruth }]) => rows.truth || !needsTruth);
  const list = caseList(store, actions, Object.fromEntries(kinds), { draw, chosen: () => list.restart() });
  const { filter } = list;
  let picture = null;
  const pictureBox = h("div", { class: "map-box" });
  put(
    place,
    h("div", { class: "filters" }, field("Which rows", filter), list.said),
    h("div", { class: rows.truth ? "cases" : null }, list.element, rows.truth ? pictureBox : null),
  );
  store.subscribe(() => {
    if (!byId("panel-cases").hidden) refresh();
  });
  return {
    /** Those that are due to no rule. */
    show() {
      filter.value = "uncovered";
      refresh();
      list.restart();
    },
    refresh,
  };

  function refresh() {
    if (seen === store.state) return;
    seen = store.state;
    if (rows.truth) {
      picture = scatterPicture(store, (i) => actions.tryRow(i));
      put(pictureBox, picture.element);
    }
    draw();
  }

  function draw() {
    const { passes, needsTruth } = FILTERS[filter.value];
    const found = [...store.state.answers.keys()].filter((i) => passes(described(i)));
    if (needsTruth) found.sort((a, b) => Math.abs(errorOf(b)) - Math.abs(errorOf(a)));
    list.show(found, { titles: rows.truth ? ["Is", "Predicted", "Off by"] : ["Predicted"], cells });
    if (picture) picture.show(found);
  }

  function errorOf(i) {
    return rows.truth ? store.state.answers[i] - rows.truth[i] : null;
  }

  function described(i) {
    return { error: errorOf(i), rules: store.state.counts[i] };
  }

  function cells(i) {
    const predicted = answerLabel(store, store.state.answers[i]);
    return rows.truth ? [answerLabel(store, rows.truth[i]), predicted, shownMove(facts, errorOf(i))] : [predicted];
  }
}

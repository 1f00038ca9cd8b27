/** Cases of rules that predict numbers: the embedded rows by how far off they are, as a list and a picture. */

import { answerLabel } from "./chart.js";
import { actionButton, announce, byId, h, named, put } from "./dom.js";
import { field, option } from "./filters.js";
import { shownMove } from "./numbers.js";
import { usedByRank } from "./ranking.js";
import { scatterPicture } from "./scatter.js";
import { counted, showValue } from "./words.js";

const CHUNK = 50;
const MOST_COLUMNS = 5;

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
  let drawn = CHUNK;
  let seen = null;
  const kinds = Object.keys(FILTERS).filter((key) => rows.truth || !FILTERS[key].needsTruth);
  const filter = h(
    "select",
    {
      id: "case-filter",
      onchange: () => {
        drawn = CHUNK;
        draw();
      },
    },
    kinds.map((key) => option(key, FILTERS[key].title)),
  );
  const said = h("p", { class: "count", role: "status" });
  const list = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rows" });
  const more = actionButton("More rows", () => {
    drawn += CHUNK;
    draw();
  });
  let picture = null;
  const pictureBox = h("div", { class: "map-box" });
  put(
    place,
    h("div", { class: "filters" }, field("Which rows", filter), said),
    h(
      "div",
      { class: rows.truth ? "cases" : null },
      h("div", {}, list, more),
      rows.truth ? pictureBox : null,
    ),
  );
  store.subscribe(() => {
    if (!byId("panel-cases").hidden) refresh();
  });
  return {
    /** Those that are due to no rule. */
    show() {
      filter.value = "uncovered";
      drawn = CHUNK;
      refresh();
      draw();
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
    const found = [...store.state.answers.keys()].map(described).filter(passes);
    if (needsTruth) found.sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
    said.textContent = `${found.length === rows.n ? "" : `${found.length.toLocaleString("en")} of `}${counted(rows.n, facts.data.sampled ? "embedded row" : "row")}`;
    announce(said.textContent);
    put(list, found.length ? table(found.slice(0, drawn)) : h("p", { class: "muted" }, "There is none."));
    more.hidden = found.length <= drawn;
    if (picture) picture.show(found.map(({ i }) => i));
  }

  function described(i) {
    const error = rows.truth ? store.state.answers[i] - rows.truth[i] : null;
    return { i, error, rules: store.state.counts[i] };
  }

  function table(shown) {
    const columns = usedByRank(facts).slice(0, MOST_COLUMNS);
    const titles = rows.truth ? ["Row", "Is", "Predicted", "Off by"] : ["Row", "Predicted"];
    return h(
      "table",
      { class: "small" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          titles.map((title) => h("th", { scope: "col" }, title)),
          columns.map((j) => h("th", { scope: "col" }, named(facts.model.attributes[j].name))),
        ),
      ),
      h("tbody", {}, shown.map((one) => line(one, columns))),
    );
  }

  function line({ i, error }, columns) {
    const values = rows.at(i);
    const button = actionButton(
      rows.name(i),
      () => actions.tryRow(i),
      "link",
      `Row ${rows.name(i)} in What-if`,
    );
    return h(
      "tr",
      {},
      h("td", {}, button),
      rows.truth ? h("td", {}, answerLabel(store, rows.truth[i])) : null,
      h("td", {}, answerLabel(store, store.state.answers[i])),
      rows.truth ? h("td", {}, shownMove(facts, error)) : null,
      columns.map((j) => h("td", {}, named(showValue(facts.model.attributes[j], values[j])))),
    );
  }
}

/**
 * Overview: what decides, how good it is, what fewer rules are worth, which attributes matter, and last how the
 * model came about.
 */

import { roleOf } from "../model/contributions.js";
import { confusion } from "./confusion.js";
import { cutoffCard } from "./cutoff.js";
import { byId, h, put } from "../core/dom.js";
import { flowPicture, orderWords } from "../charts/flow.js";
import { curveBlock } from "./sizeSlider.js";
import { importance } from "./importance.js";
import { dataBlock, modelBlock, pairs, proofBlock } from "./provenance.js";
import { metrics, performanceOf } from "../model/measures.js";
import { mergedRules } from "./merged.js";
import { predictsNumbers, shownNumber } from "../model/regression.js";
import { scatterPicture } from "../charts/scatter.js";
import { subgroupsCard } from "./subgroups.js";
import { sizesCard } from "./sizes.js";
import { counted, percentText } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{refresh: function(): void}} to be called when it is looked at
 */
export function overviewView(store, actions) {
  const place = byId("overview-view");
  const isNumber = predictsNumbers(store.facts.model);
  let shown = null;
  store.subscribe(() => {
    if (!byId("panel-overview").hidden) refresh();
  });
  return { refresh };

  function refresh() {
    if (shown === store.state) return;
    shown = store.state;
    const proof = proofBlock(store.state.model);
    put(
      place,
      h(
        "div",
        { class: "overview" },
        glance(store, actions),
        isNumber
          ? errorsCard(store, actions)
          : [card("Accuracy", "third", accuracy(store)), card("Confusion matrix", "rest", confusion(store, actions)), cutoffCard(store)],
        subgroupsCard(store),
        card(`${isNumber ? "Error" : "Accuracy"} against the number of rules`, "half", curveBlock(store)),
        card("Attributes", "half", importance(store)),
        sizesCard(store),
        mergedRules(store, actions),
        h(
          "div",
          { class: "parts" },
          card("Data", "", dataBlock(store)),
          card("Model", "", modelBlock(store)),
          proof && card("Proof of minimality", "", proof),
        ),
      ),
    );
  }
}

/** Predicted numbers beside true ones, and how far off they are. */
function errorsCard(store, actions) {
  const { facts, rows } = store;
  const found = facts.performance && (store.isEdited ? metrics(store.state, rows) : facts.performance);
  if (!found)
    return h("section", { class: "card wide" }, h("h2", {}, "How far off"), h("p", { class: "muted" }, "Unknown: give the report rows whose number is known to see it."));
  const show = (value) => shownNumber(facts, value);
  // Intervals are measured in Python, of the rules as learned.
  const between = (ends, text) => (ends ? `, 95 % interval ${text(ends[0])} to ${text(ends[1])}` : "");
  const { mean, mean_mae: meanOff, mean_rmse: meanSquared } = facts.performance;
  const n = store.isEdited ? rows.n : found.rows;
  const share = (value) => value.toFixed(2);
  return h(
    "section",
    { class: "card wide errors" },
    h(
      "div",
      {},
      h("h2", {}, "How far off"),
      h("p", { class: "figure" }, show(found.mae)),
      h("p", {}, `on average, of ${counted(n, n < facts.data.n_rows ? "embedded row" : "row")}; always answering the mean ${show(mean)} is off by ${show(meanOff)}.${store.isEdited ? ` As learned, the rules were off by ${show(metrics(store.original, rows).mae)}.` : ""}`),
      pairs([
        ["Mean absolute error", `${show(found.mae)}${between(found.mae_interval, show)}`],
        ["Root mean squared error", `${show(found.rmse)}${between(found.rmse_interval, show)}`],
        ["Of always answering the mean", show(meanSquared)],
        ["R2", `${share(found.r2)}${between(found.r2_interval, share)}`],
      ]),
    ),
    h(
      "figure",
      {},
      h("figcaption", { class: "muted" }, `Predicted against true${facts.data.sampled ? `, ${counted(rows.n, "embedded row")}` : ""}: on the line both are the same.`),
      scatterPicture(store, (i) => actions.tryRow(i)).element,
    ),
  );
}

/** What is behind the answers; null where that cannot be told. */
function glance(store, actions) {
  const picture = flowPicture(store, actions);
  if (!picture) return null;
  const { heading, past, meaning } = roleOf(store.facts.model);
  return h(
    "section",
    { class: "card wide" },
    h("h2", {}, heading),
    h(
      "p",
      { class: "muted" },
      `Widths are rows ${past}: ${counted(store.rows.n, store.facts.data.sampled ? "embedded row" : "row")}.${store.rows.classes && !store.rows.answers ? " Hatched: decided wrongly." : ""} ${meaning} ${orderWords(store.facts)}`,
    ),
    picture,
  );
}

function card(title, width, ...children) {
  return h("section", { class: `card ${width}` }, h("h2", {}, title), children);
}

function accuracy(store) {
  const { facts, state, original, rows, isEdited } = store;
  const { data: given, overview } = facts;
  const performance = performanceOf(store);
  if (!performance)
    return h(
      "p",
      { class: "muted" },
      given
        ? "Unknown: the rows that were given have no labels."
        : "Unknown: give the report labelled rows to see it.",
    );
  const { coverage } = metrics(state, rows);
  const learned = percentText(metrics(original, rows).accuracy);
  const before = isEdited ? ` As learned, the rules decided ${learned} rightly.` : "";
  const basis = performance.n < given.n_rows ? "embedded row" : "row";
  const whose = {
    true: "These are the training rows: new rows will be decided less well.",
    false: "These are not the training rows.",
    null: "",
  }[overview.is_training];
  return [
    h("p", { class: "figure" }, percentText(performance.accuracy)),
    h("p", {}, `of ${counted(performance.n, basis)} are decided rightly.${before} ${whose}`),
    pairs([
      ["Balanced over the classes", percentText(performance.balanced_accuracy)],
      [
        "Covered by a rule",
        `${percentText(coverage)}${given.sampled ? ` of ${rows.n.toLocaleString("en")} sampled` : ""}`,
      ],
    ]),
  ];
}


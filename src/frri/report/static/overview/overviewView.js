/**
 * Overview: what decides, how good it is, which columns matter, and last how the model came about.
 */

import { confusion } from "./confusion.js";
import { cutoffCard } from "./cutoff.js";
import { effectsCard } from "./effectCurves.js";
import { importance } from "./importance.js";
import { leaderboardCard, sizesCard } from "./heldOutTables.js";
import { dataBlock, modelBlock, pairs, proofBlock } from "./provenance.js";
import { subgroupsCard } from "./subgroups.js";
import { flowPicture } from "../charts/flow.js";
import { scatterPicture } from "../charts/scatter.js";
import { actionButton, byId, card, h, muted, put } from "../core/dom.js";
import { counted, percentText, whole } from "../core/format.js";
import { kindOf, shownNumber } from "../model/kind.js";
import { accuraciesOf, basisText, heldOut, metrics, namedRows, performanceOf } from "../model/measures.js";

const MOST_COLUMNS = 15;
/** Classes whose matrix has its place beside the accuracy. */
const MOST_BESIDE = 6;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{refresh: function(): void}} to be called when it is looked at
 */
export function overviewView(store, actions) {
  const place = byId("overview-view");
  const isNumber = kindOf(store.facts.model).isNumber;
  let shown = null;
  store.subscribe(() => {
    if (!byId("panel-overview").hidden) refresh();
  });
  return { refresh };

  function refresh() {
    if (shown === store.state) return;
    shown = store.state;
    const proof = proofBlock(store.state.model);
    const isLarge = store.facts.model.classes.length > MOST_BESIDE;
    put(
      place,
      h(
        "div",
        "overview",
        effectsCard(store),
        isNumber
          ? errorsCard(store, actions)
          : [card("Accuracy", isLarge ? "wide" : "third", accuracy(store)), card("Confusion matrix", isLarge ? "wide" : "rest", confusion(store, actions)), cutoffCard(store)],
        subgroupsCard(store),
        flowCard(store, actions),
        h(
          "div",
          "parts",
          card("Columns", "", importance(store, MOST_COLUMNS, false) ?? muted("No rule uses a column.")),
          sizesCard(store.facts),
          leaderboardCard(store.facts),
          card("Data", "", dataBlock(store)),
          card("Model", "", modelBlock(store), actionButton("Download model", actions.download)),
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
    return card("Errors", "wide", muted("Unknown: give the report rows whose number is known to see it."));
  const show = (value) => shownNumber(facts, value);
  // Intervals are measured in Python, of the rules as learned.
  const between = (ends, text) => (ends ? `, 95 % interval ${text(ends[0])} to ${text(ends[1])}` : "");
  const { mean, mean_mae: meanOff, mean_rmse: meanSquared } = facts.performance;
  const n = store.isEdited ? rows.n : found.rows;
  const share = (value) => value.toFixed(2);
  const estimate = heldOut(store);
  return h(
    "section",
    "card wide errors",
    h(
      "div",
      {},
      h("h2", {}, "Errors"),
      h("p", "figure", show(estimate?.error ?? found.mae)),
      h("p", {}, `mean absolute error ${estimate?.error === undefined ? "" : `${estimate.basis}; ${show(found.mae)} `}on ${namedRows(facts, n)}; predicting the mean ${show(mean)}: ${show(meanOff)}.${store.isEdited ? ` As learned: ${show(metrics(store.original, rows).mae)}.` : ""}${estimate ? "" : cautionOf(facts, "Errors on new data are larger")}`),
      estimate && muted(basisText(facts, n)),
      pairs([
        ["Mean absolute error", `${show(found.mae)}${between(found.mae_interval, show)}`],
        ["Root mean squared error", `${show(found.rmse)}${between(found.rmse_interval, show)}`],
        ["Of predicting the mean", show(meanSquared)],
        ["R²", `${share(found.r2)}${between(found.r2_interval, share)}`],
      ]),
    ),
    h(
      "figure",
      {},
      h("figcaption", "muted", `Predicted against true${facts.data.sampled ? `, ${counted(rows.n, "embedded row")}` : ""}: on the line both are the same.`),
      scatterPicture(store, (i) => actions.tryRow(i)).element,
    ),
  );
}

/** The flow of rows through rules; null where there is none. */
function flowCard(store, actions) {
  const picture = flowPicture(store, actions);
  if (!picture) return null;
  const basis = counted(store.rows.n, store.facts.data.sampled ? "embedded row" : "row");
  return card("Decision flow", "wide", muted(`${basis} from rules to classes${store.rows.classes ? " (hatched: errors)" : ""}.`), picture);
}

function accuracy(store) {
  const { facts, state, original, rows, isEdited } = store;
  const given = performanceOf(store);
  const found = heldOut(store);
  const held = found?.confusion && accuraciesOf(found.confusion, facts.model.classes.length);
  const estimate = found?.measure === "accuracy" ? found.score : held?.accuracy;
  if (!given && estimate === undefined)
    return muted(`Unknown: ${facts.data ? "the rows that were given have no labels." : "give the report labelled rows to see it."}`);
  const basis = given && namedRows(facts, given.n);
  const before = isEdited ? ` As learned: ${percentText(metrics(original, rows).accuracy)}.` : "";
  const others = given ? `; ${percentText(given.accuracy)} on the ${basis}` : "";
  return [
    h("p", "figure", percentText(estimate === undefined ? given.accuracy : Number(estimate.toFixed(2)))),
    h("p", {}, estimate === undefined ? `of ${basis} are classified correctly.${before}${cautionOf(facts, "Accuracy on new data is lower")}` : `${found.basis}${others}.`),
    pairs([
      [`Balanced accuracy${facts.overview.is_training && !held ? ", training rows" : ""}`, percentText((held ?? given)?.balanced_accuracy)],
      given && ["Covered by a rule", `${percentText(metrics(state, rows).coverage)}${facts.data.sampled ? ` of ${whole(rows.n)} sampled` : ""}`],
    ]),
  ];
}

function cautionOf({ overview }, text) {
  return overview.is_training === false ? "" : ` ${text} than on training rows.`;
}

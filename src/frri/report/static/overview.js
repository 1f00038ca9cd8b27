/**
 * Overview: the data, the learner and its settings, the proof, the accuracy, the confusion matrix,
 * the importance of attributes, and accuracy against the number of rules.
 */

import { roleOf } from "./carrying.js";
import { classBar, classLabel, curveChart, shareBar } from "./chart.js";
import { confusion } from "./confusion.js";
import { byId, h, named, put } from "./dom.js";
import { editsOf } from "./editing.js";
import { flowPicture } from "./flow.js";
import { accuracyBySize, metrics, performanceOf } from "./measures.js";
import { mergedRules } from "./merged.js";
import { predictsNumbers, shownNumber } from "./numbers.js";
import { scatterPicture } from "./scatter.js";
import { sizesCard } from "./sizes.js";
import { trimmer } from "./trimming.js";
import { addsVotes } from "./votes.js";
import { counted, decimal, percentText, shareText, signedText } from "./words.js";

const MOST_ATTRIBUTES = 15;

const HOW = {
  "best-rule": "The rule that covers a row best decides, by degree times confidence.",
  "added-votes": "The rules that fire add up, class by class; the largest sum decides.",
  "first-match": "Rules are a list; the first one that holds decides.",
  "softmax-votes":
    "Rules add votes for classes to a base; the largest sum decides, and the exponentials of the sums are in proportion to the probabilities.",
  "at-least-class":
    "Rules say at least or at most a class; the strongest for and against each class decide between them.",
  "cumulative-logits":
    "Rules move the answer up or down the order of the classes; what they add up to gives each class its share.",
  "weighted-mean": "The mean of the numbers of the rules that fire, weighted by degree times confidence.",
  "added-contributions": "Rules add their numbers, times the degree to which they hold, to a base.",
  nearest: "Where no rule fires, the nearest one decides.",
  stretched: "Where no rule fires, rules are cut before their first failing condition.",
  partial: "Where no rule fires, rules count by those of their conditions that hold.",
  priors: "Where no rule fires, the most frequent class in training decides.",
  base: "Where no rule fires, the base decides.",
};

const MISSING = {
  typical: "counts as the typical one of its attribute",
  fails: "satisfies no condition",
  similar: "satisfies any condition",
};

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
    put(
      place,
      h(
        "div",
        { class: "overview" },
        glance(store, actions),
        isNumber ? errorsCard(store, actions) : null,
        card("Data", data(store)),
        card("Model", modelBlock(store)),
        card("Proof of minimality", proof(store.state.model)),
        isNumber ? null : card("Accuracy", accuracy(store)),
        isNumber ? null : card("Confusion matrix", confusion(store, actions)),
        card("Attributes", importance(store)),
        isNumber ? null : card("Accuracy against the number of rules", curveBlock(store)),
        sizesCard(store),
        mergedRules(store, actions),
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
      `Widths are rows ${past}: ${counted(store.rows.n, store.facts.data.sampled ? "embedded row" : "row")}.${store.rows.classes && !store.rows.answers ? " Hatched: decided wrongly." : ""} ${meaning}`,
    ),
    picture,
  );
}

function card(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}

function pairs(entries) {
  return h(
    "dl",
    { class: "pairs" },
    entries
      .filter(Boolean)
      .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

function data(store) {
  const { model, data: given } = store.facts;
  const nTraining = store.facts.overview.n_training;
  const kinds = {};
  for (const { kind } of model.attributes) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const missing = store.facts.attributes.reduce(
    (sum, attribute) => sum + (attribute.missing ?? 0),
    0,
  );
  return [
    pairs([
      ["Learned from", nTraining ? counted(nTraining, "row") : "unknown"],
      [
        "Attributes",
        Object.entries(kinds)
          .map(([kind, n]) => `${n} ${kind}`)
          .join(", "),
      ],
      ["Target", [named(model.target), `, ${model.classes.length ? counted(model.classes.length, "class", "classes") : "a number"}`]],
      given && ["Given to this page", counted(given.n_rows, "row")],
      given &&
        given.sampled && [
          "Embedded",
          `a random sample of ${given.n_embedded.toLocaleString("en")}`,
        ],
      given && missing > 0 && ["Missing values", missing.toLocaleString("en")],
    ]),
    model.classes.length ? h("p", { class: "muted" }, "Classes in training") : null,
    model.classes.length ? classBar(store, model.class_counts) : null,
  ];
}

function modelBlock({ facts, state, rows }) {
  const { overview } = facts;
  const { model } = state;
  const { rules, conditions } = metrics(state, rows);
  const edits = editsOf(model);
  return [
    pairs([
      ["Learner", overview.learner ?? "unknown"],
      edits > 0 && ["Edits since", edits.toLocaleString("en")],
      ["Rules", rules.toLocaleString("en")],
      [
        "Conditions",
        `${conditions.toLocaleString("en")}${rules ? `, ${decimal(conditions / rules)} per rule` : ""}`,
      ],
      addsVotes(model) && ["Base", baseParts(model)],
      predictsNumbers(model) && model.base && ["Base", shownNumber(facts, model.base[0])],
      ["Conditions joined by", model.semantics.t_norm.replace("_", " ")],
      [
        "Values beyond the training range",
        model.semantics.clip ? "count as its ends" : "count as they are",
      ],
      [
        "A missing value",
        MISSING[model.semantics.missing],
      ],
      facts.stability && [
        `Conditions shared by ${facts.stability.n_resamples} resamples, of 1`,
        shareText(facts.stability.similarity),
      ],
      overview.version && ["Made with", `frri ${overview.version}`],
      ...overview.settings
        .filter(([name]) => name !== "edits")
        .map(([name, value]) => [named(name), named(value)]),
    ]),
    h("p", { class: "muted" }, `${HOW[model.semantics.name]} ${HOW[model.semantics.fallback]}`),
    logBlock(model.about.log),
  ];
}

/** What was done to the model before it came here. */
function logBlock(log) {
  if (!Array.isArray(log) || !log.length) return null;
  return h(
    "details",
    {},
    h("summary", {}, `Log: ${counted(log.length, "edit")}`),
    h(
      "ol",
      { class: "log" },
      log.map(({ edit, reason, author, date }) =>
        h("li", {}, named([edit, reason && `because ${reason}`, author, date].filter(Boolean).join(" · "))),
      ),
    ),
  );
}

function baseParts({ classes, base }) {
  return classes.flatMap((label, c) => [c ? ", " : "", named(label), ` ${signedText(base[c])}`]);
}

function proof(model) {
  const found = model.about.selection;
  if (editsOf(model))
    return h(
      "p",
      { class: "muted" },
      "None: the rules were edited, and a proof is about those learned.",
    );
  if (!found || typeof found !== "object" || found.status === undefined)
    return h("p", { class: "muted" }, "This learner gives none.");
  const isOptimal = found.status === "optimal";
  const { n_rules: n, lower_bound: bound, gap } = found;
  const isPartial = found.n_covered !== undefined;
  return [
    h(
      "p",
      { class: "proof" },
      h(
        "span",
        { class: isOptimal ? "badge good" : "badge" },
        isOptimal ? "proved" : String(found.status),
      ),
    ),
    h(
      "p",
      {},
      isPartial
        ? `Of the learner's candidate rules these ${n} are ${isOptimal ? "" : "the best found, not proved to be "}${found.claim}; they cover ${found.n_covered} training rows.`
        : isOptimal
          ? `No ${n === 1 ? "smaller set" : `set of fewer than ${n}`} of the learner's candidate rules covers every training row that can be covered.`
          : `${n} rules were found; at least ${bound} are needed.`,
    ),
    pairs([
      ["Rules", String(n)],
      bound !== undefined && ["Lower bound", String(bound)],
      typeof gap === "number" && ["Gap", percentText(gap)],
      found.n_conditions !== undefined && [
        "Conditions",
        `${found.n_conditions}${found.conditions_status ? ` (${found.conditions_status})` : ""}`,
      ],
      found.stopped_by && ["Stopped by", String(found.stopped_by)],
      found.solver && ["Solver", String(found.solver)],
    ]),
  ];
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

/** The loss of accuracy is measured in Python, of the rules as learned; where they are used is counted. */
function importance({ facts, state, isEdited }) {
  const used = new Map();
  for (const { rule } of state.entries)
    for (const name of new Set(rule.if.map((condition) => condition.attribute)))
      used.set(name, (used.get(name) ?? 0) + 1);
  const attributes = facts.attributes.map((attribute) => ({
    ...attribute,
    n_rules: used.get(attribute.name) ?? 0,
  }));
  const known = !isEdited && attributes.some((attribute) => attribute.importance !== null);
  const size = (attribute) =>
    known ? attribute.importance : attribute.n_rules / Math.max(state.entries.length, 1);
  const order = [...attributes].sort((a, b) => size(b) - size(a) || b.n_rules - a.n_rules);
  const most = Math.max(...order.map(size), 1e-9);
  const rows = order
    .slice(0, MOST_ATTRIBUTES)
    .map((attribute) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, named(attribute.name)),
        h("td", { class: "bar" }, shareBar(size(attribute) / most)),
        known ? h("td", { class: "number" }, percentText(Math.max(attribute.importance, 0))) : null,
        h("td", { class: "number" }, attribute.n_rules),
      ),
    );
  const rest = order.length - rows.length;
  return [
    h(
      "p",
      { class: "muted" },
      known
        ? `How much ${facts.numbers ? "R2" : "accuracy"} is lost when an attribute’s values are shuffled, and in how many rules it is used.`
        : "In how many rules each attribute is used.",
    ),
    h(
      "table",
      { class: "importance" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Attribute"),
          h("td", {}),
          known ? h("th", { scope: "col", class: "number" }, "Loss") : null,
          h("th", { scope: "col", class: "number" }, "Rules"),
        ),
      ),
      h("tbody", {}, rows),
    ),
    rest > 0 ? h("p", { class: "muted" }, `and ${counted(rest, "more attribute")}`) : null,
  ];
}

/** Known of the rules as learned; measured, in a while, of edited ones. */
function curveBlock(store) {
  const { facts, state } = store;
  if (!store.isEdited || !facts.curve) return curve(facts.curve, store);
  const place = h("div", { "aria-busy": "true" }, h("p", { class: "muted" }, "Being measured …"));
  accuracyBySize(store, () => store.state !== state).then((points) => {
    if (!points) return;
    put(place, curve(points, store));
    place.removeAttribute("aria-busy");
  });
  return place;
}

function curve(points, store) {
  const { model } = store.state;
  if (!points || points.length < 2)
    return h(
      "p",
      { class: "muted" },
      points ? "There are too few rules to compare." : "Unknown without labelled rows.",
    );
  const order =
    model.semantics.name === "first-match"
      ? "The list is cut off after so many rules."
      : "Rules are added by how many rows each covers that none before it did.";
  const drawing = curveChart(points);
  return [
    h("p", { class: "muted" }, order),
    drawing.element,
    trimmer(store, drawing.mark),
    h(
      "details",
      {},
      h("summary", {}, "The numbers"),
      h(
        "table",
        { class: "small" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Rules", "Accuracy", "Coverage"].map((title) => h("th", { scope: "col" }, title)),
          ),
        ),
        h(
          "tbody",
          {},
          points.map((point) =>
            h(
              "tr",
              {},
              h("td", {}, point.n_rules),
              h("td", {}, shareText(point.accuracy)),
              h("td", {}, shareText(point.coverage)),
            ),
          ),
        ),
      ),
    ),
  ];
}

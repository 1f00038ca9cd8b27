/** What the model is and how it came about: its data, its settings, its log, and the proof that came with it. */

import { classBar } from "../charts/chart.js";
import { h, named } from "../core/dom.js";
import { editsOf } from "../edit/ruleEdits.js";
import { metrics } from "../model/measures.js";
import { kindOf, shownNumber } from "../model/kind.js";
import { counted, percentText, shareText, signedText } from "../core/format.js";

const HOW = {
  "best-rule": "The rule that covers a row best decides, by degree times weight.",
  "added-votes": "The rules that hold add up, class by class; the largest sum decides.",
  "first-match": "Rules are a list; the first one that holds decides.",
  "softmax-votes":
    "Rules add votes for classes to a base; the largest sum decides, and the exponentials of the sums are in proportion to the probabilities.",
  "at-least-class":
    "Rules predict at least or at most a class; the strongest for and against each class decide between them.",
  "cumulative-logits":
    "Rules move the answer up or down the order of the classes; their sum gives the probability of each class.",
  "weighted-mean": "The mean of the numbers of the rules that hold, weighted by degree times weight.",
  "added-contributions": "Rules add their numbers, times the degree to which they hold, to a base.",
  nearest: "Where no rule holds, the nearest one decides.",
  stretched: "Where no rule holds, rules are cut before their first failing condition.",
  partial: "Where no rule holds, rules count by those of their conditions that hold.",
  priors: "Where no rule holds, the most frequent class in training decides.",
  base: "Where no rule holds, the base decides.",
};

const COSTS = " What speaks for a class, and its frequency, count times its cost.";

const MISSING = {
  typical: "counts as the typical one of its column",
  fails: "satisfies no condition",
  similar: "satisfies any condition",
};

/**
 * What it was learned from, and what the page was given.
 *
 * @param {object} store
 * @returns {Array}
 */
export function dataBlock(store) {
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
        "Columns",
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

/**
 * What kind of rules these are, and how they were learned.
 *
 * @param {object} store
 * @returns {Array}
 */
export function modelBlock({ facts, state, rows }) {
  const { overview } = facts;
  const { model } = state;
  const { rules, conditions } = metrics(state, rows);
  const edits = editsOf(model);
  return [
    pairs([
      ["Algorithm", overview.learner ?? "unknown"],
      edits > 0 && ["Edits since", edits.toLocaleString("en")],
      ["Rules", rules.toLocaleString("en")],
      [
        "Conditions",
        `${conditions.toLocaleString("en")}${rules ? `, ${(conditions / rules).toFixed(1)} per rule` : ""}`,
      ],
      kindOf(model).addsVotes && ["Base", baseParts(model)],
      model.costs && ["Cost of misclassifying", costParts(model)],
      kindOf(model).isNumber && model.base && ["Base", shownNumber(facts, model.base[0])],
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
    ]),
    h("p", { class: "muted" }, `${HOW[model.semantics.name]} ${HOW[model.semantics.fallback]}${model.costs ? COSTS : ""}`),
    settingsBlock(overview.settings.filter(([name]) => name !== "edits")),
    logBlock(model.about.log),
  ];
}

/** What the learner was told, folded away; on paper it is unfolded. */
function settingsBlock(settings) {
  if (!settings.length) return null;
  return h(
    "details",
    { class: "settings" },
    h("summary", {}, counted(settings.length, "setting")),
    pairs(settings.map(([name, value]) => [named(name), named(value)])),
  );
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

function costParts({ classes, costs }) {
  return classes.flatMap((label, c) => [c ? ", " : "", named(label), ` ${Number(costs[c].toPrecision(6))}`]);
}

/**
 * What is proved about the rules.
 *
 * @param {object} model
 * @returns {?HTMLElement|Array} null where the learner proves nothing
 */
export function proofBlock(model) {
  const found = model.about.selection;
  if (found && editsOf(model))
    return h(
      "p",
      { class: "muted" },
      "None: the rules were edited, and a proof is about those learned.",
    );
  if (!found || typeof found !== "object" || found.status === undefined)
    return null;
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

/**
 * Names with their values.
 *
 * @param {Array<?[string, *]>} entries
 * @returns {HTMLElement}
 */
export function pairs(entries) {
  return h(
    "dl",
    { class: "pairs" },
    entries
      .filter(Boolean)
      .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

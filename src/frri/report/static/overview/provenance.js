/** What the model is and how it came about: its data, its settings, its log, and the proof that came with it. */

import { classBar } from "../charts/chart.js";
import { h, muted, named } from "../core/dom.js";
import { editsOf } from "../edit/ruleEdits.js";
import { metrics } from "../model/measures.js";
import { kindOf, shownNumber } from "../model/kind.js";
import { counted, shareText, signedText, sum, whole } from "../core/format.js";

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
  const missing = sum(store.facts.attributes.map((attribute) => attribute.missing ?? 0));
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
          `a random sample of ${whole(given.n_embedded)}`,
        ],
      given && missing > 0 && ["Missing values", whole(missing)],
    ]),
    model.classes.length ? muted("Classes in training") : null,
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
      edits > 0 && ["Edits since", whole(edits)],
      ["Rules", whole(rules)],
      [
        "Conditions",
        `${whole(conditions)}${rules ? `, ${(conditions / rules).toFixed(1)} per rule` : ""}`,
      ],
      model.costs && ["Cost of misclassifying", costParts(model)],
      (kindOf(model).isNumber || kindOf(model).addsVotes) && model.base && ["Base", baseParts(facts)],
      ...overview.traits,
      facts.stability && [
        `Conditions shared by ${facts.stability.n_resamples} resamples, of 1`,
        shareText(facts.stability.similarity),
      ],
    ]),
    muted(overview.how),
    settingsBlock(overview.settings.filter(([name]) => name !== "edits")),
    logBlock(model.about.log),
  ];
}

/** What the learner was told, folded away; on paper it is unfolded. */
function settingsBlock(settings) {
  if (!settings.length) return null;
  return h(
    "details",
    "settings",
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
      "log",
      log.map(({ edit, reason, author, date }) =>
        h("li", {}, named([edit, reason && `because ${reason}`, author, date].filter(Boolean).join(" · "))),
      ),
    ),
  );
}

/**
 * What rules add to: a number, or votes for each class.
 *
 * @param {object} facts
 * @returns {Array}
 */
export function baseParts(facts) {
  const { classes, base } = facts.model;
  if (!classes.length) return [shownNumber(facts, base[0])];
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
  if (found && editsOf(model)) return muted("None: the rules were edited, and a proof is about those learned.");
  if (!found || typeof found !== "object" || found.status === undefined)
    return null;
  const isOptimal = found.status === "optimal";
  const { n_rules: n, lower_bound: bound } = found;
  const isPartial = found.n_covered !== undefined;
  return [
    h("p", "proof", h("span", { class: isOptimal ? "badge good" : "badge" }, isOptimal ? "proved" : String(found.status))),
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
      bound !== undefined && ["Lower bound", String(bound)],
      found.n_conditions !== undefined && ["Conditions", `${found.n_conditions}${found.conditions_status ? ` (${found.conditions_status})` : ""}`],
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
    "pairs",
    entries
      .filter(Boolean)
      .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

/**
 * A rule opened: the sentence, what it covers and where it errs, what it alone covers, and the rules
 * around it.
 */

import { roleOf } from "../model/contributions.js";
import { classBar, classLabel, ruleLabel, shareBar } from "../charts/chart.js";
import { h, named, scrolling, sentence } from "../core/dom.js";
import { alone } from "../edit/ruleEdits.js";
import { conditionHistogram } from "../charts/conditionHistogram.js";
import { neighbouring, overlapping } from "../model/neighbors.js";
import { wilson } from "../model/measures.js";
import { coveredNumbers } from "./numberRows.js";
import { predictsNumbers } from "../model/regression.js";
import { speaksFor } from "../model/ordinal.js";
import { ruleParts } from "../text/ruleText.js";
import { rowTable } from "../charts/rowTable.js";
import { scalesOnce } from "../charts/distributions.js";
import { conditionText } from "../text/conditionText.js";
import { coverageOf } from "../model/store.js";
import { attributesByName, counted, percentText, shareText } from "../core/format.js";

const MOST_ERRORS = 8;
const MOST_NEIGHBOURS = 5;

/**
 * @param {object} store
 * @param {object} entry
 * @param {object} actions
 * @returns {HTMLElement}
 */
export function openedRule(store, entry, actions) {
  return h(
    "div",
    { class: "opened-rule" },
    h("p", { class: "sentence" }, sentence(ruleParts(store.facts.model, entry.rule))),
    entry.rule.if.length ? conditionsBlock(store, entry) : null,
    h(
      "div",
      { class: "columns" },
      block("What it covers", coverage(store, entry)),
      predictsNumbers(store.facts.model)
        ? block("What its rows are", coveredNumbers(store, entry))
        : block("Where it errs", errors(store, entry, actions)),
      block("Overlapping and neighbouring rules", around(store, entry, actions)),
    ),
    actions.edit ? toolbar(store, entry, actions) : null,
  );
}

function block(title, ...children) {
  return h("section", {}, h("h3", {}, title), children);
}

function conditionsBlock(store, entry) {
  const { model } = store.facts;
  const attributes = attributesByName(model);
  const scales = scalesOnce(store);
  return h(
    "div",
    {},
    h(
      "ul",
      { class: "large-conditions" },
      entry.rule.if.map((condition, k) => {
        const attribute = attributes.get(condition.attribute);
        return h(
          "li",
          {},
          h("p", { class: "phrase" }, h("b", {}, named(attribute.name))),
          conditionHistogram(store, entry, k, scales.get(attribute.name)),
          h("p", { class: "phrase" }, named(conditionText(condition, attribute, model.semantics.clip))),
        );
      }),
    ),
    store.rows
      ? h(
          "p",
          { class: "muted legend" },
          "Outline: all rows. Pale: rows that meet the other conditions. Solid: rows that the rule covers.",
        )
      : null,
  );
}

function coverage(store, entry) {
  const { known, rule } = entry;
  if (known.covered === null || known.covered === undefined) {
    return h(
      "p",
      { class: "muted" },
      "Unknown: the model carries no statistics, and no data were given.",
    );
  }
  const share = coverageOf(entry, store);
  const total = share ? Math.round(known.covered / share) : known.n_rows;
  const parts = [
    h(
      "p",
      {},
      `${counted(known.covered, "row")}${total ? ` of ${total.toLocaleString("en")}` : ""}, ${percentText(share)}.`,
    ),
    known.support ? classBar(store, known.support) : null,
    ...[decidesText(store, entry)].flat(),
    returnsText(store, entry),
  ];
  // What it alone covered among the rules as learned says nothing about the edited ones.
  const learned = store.isEdited ? null : known.alone;
  const byItself = store.rows ? alone(store.state, entry.cover) : learned;
  if (byItself !== null && byItself !== undefined) {
    const basis = store.rows && store.facts.data.sampled ? " of the embedded rows" : "";
    parts.push(
      h(
        "p",
        {},
        byItself
          ? `${counted(byItself, "row")}${basis} no other rule covers.`
          : "Other rules cover all of this, too.",
      ),
    );
  }
  if (rule.source !== undefined)
    parts.push(h("p", { class: "muted" }, `Made from training object ${rule.source}.`));
  return parts;
}

/** How often about the same rule was learned from rows drawn anew. */
function returnsText({ facts }, { known }) {
  if (known.returns === null || known.returns === undefined) return null;
  const { n_resamples: n } = facts.stability;
  return h("p", {}, `About the same rule came back in ${Math.round(known.returns * n)} of ${n} resamples.`);
}

function decidesText(store, { number }) {
  const found = store.state.decides?.get(number);
  if (!found) return null;
  const { idle, verb, meaning } = roleOf(store.facts.model);
  const explained = meaning ? h("p", { class: "muted" }, meaning) : null;
  if (!found.rows) return [h("p", {}, idle), explained];
  const head = `It ${verb} ${counted(found.rows, "row")}`;
  if (found.right === null) return [h("p", {}, `${head}.`), explained];
  const [low, high] = wilson(found.right, found.rows);
  return [
    h(
      "p",
      {},
      `${head}, ${found.right.toLocaleString("en")} of them rightly: ${percentText(found.right / found.rows)} (95 % interval ${percentText(low)} to ${percentText(high)}).`,
    ),
    explained,
  ];
}

function errors(store, entry, actions) {
  const { rows, state, facts } = store;
  const isRight = speaksFor(facts.model, entry.rule);
  if (isRight(0) === null) return h("p", { class: "muted" }, "It names no class that could be wrong.");
  if (!rows || !rows.classes) {
    const { support } = entry.known;
    if (!support) return h("p", { class: "muted" }, "Unknown without labelled rows.");
    const wrong = support.reduce((sum, count, c) => sum + (isRight(c) ? 0 : count), 0);
    return h(
      "p",
      {},
      wrong
        ? `${counted(wrong, "training row")} of other classes; give the report data to see them.`
        : "Nowhere in the training data.",
    );
  }
  const wrong = [];
  for (let i = 0; i < rows.n; i += 1) if (entry.cover[i] && !isRight(rows.classes[i])) wrong.push(i);
  if (!wrong.length)
    return h(
      "p",
      {},
      `Nowhere${facts.data.sampled ? " in the embedded rows" : ""}: all rows that it covers are of its class.`,
    );
  const outvoted = wrong.filter((i) => state.decided[i] === rows.classes[i]).length;
  const names = [...new Set(entry.rule.if.map((condition) => condition.attribute))].slice(0, 4);
  const columns = names.map((name) =>
    facts.model.attributes.findIndex((attribute) => attribute.name === name),
  );
  return [
    h(
      "p",
      {},
      `${counted(wrong.length, "row")} of another class`,
      outvoted ? `; other rules put ${outvoted} of them right.` : ".",
    ),
    scrolling(
      `Rows on which rule ${entry.number} errs`,
      rowTable(store, actions, {
        shown: wrong.slice(0, MOST_ERRORS),
        columns,
        titles: ["Is"],
        cells: (i) => [classLabel(store, facts.model.classes[rows.classes[i]])],
      }),
    ),
    wrong.length > MOST_ERRORS
      ? h("p", { class: "muted" }, `and ${wrong.length - MOST_ERRORS} more`)
      : null,
  ];
}

function around(store, entry, actions) {
  const overlaps = store.rows ? overlapping(store.state, entry, MOST_NEIGHBOURS) : [];
  const known = new Set(overlaps.map((one) => one.entry));
  const near = neighbouring(store.state, entry, MOST_NEIGHBOURS + known.size)
    .filter((one) => !known.has(one.entry))
    .slice(0, overlaps.length ? 2 : MOST_NEIGHBOURS);
  if (!overlaps.length && !near.length) return h("p", { class: "muted" }, "None.");
  const item = ({ entry: other, share }, text) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "link", onclick: () => actions.openRule(other.number) },
        `Rule ${other.number}`,
      ),
      ruleLabel(store, other.rule),
      shareBar(share),
      h("span", { class: "muted" }, text),
    );
  return [
    overlaps.length ? h("p", { class: "muted" }, "They share rows:") : null,
    h(
      "ul",
      { class: "neighbours" },
      overlaps.map((one) => item(one, counted(one.rows, "row"))),
    ),
    near.length ? h("p", { class: "muted" }, "Their conditions are alike:") : null,
    h(
      "ul",
      { class: "neighbours" },
      near.map((one) => item(one, shareText(one.share))),
    ),
  ];
}

function toolbar(store, entry, actions) {
  const button = (text, help, onclick) =>
    h("button", { type: "button", title: help, onclick }, text);
  const hasBounds = entry.rule.if.some((condition) => condition.trapezoid);
  return h(
    "div",
    { class: "toolbar" },
    hasBounds
      ? button("Loosen", "Move all bounds outwards by a twentieth of their range", () =>
          actions.stretch(entry.number, 1),
        )
      : null,
    hasBounds
      ? button("Tighten", "Move all bounds inwards by a twentieth of their range", () =>
          actions.stretch(entry.number, -1),
        )
      : null,
    button("Edit…", "Change its conditions one by one", () => actions.edit(entry.number)),
    button("Remove", "Take it out of the model", () => actions.remove(entry.number)),
  );
}

/**
 * A rule opened: its conditions over the rows, what it covers and misclassifies, and the form that changes it.
 */

import { classBar, classLabel } from "../charts/chart.js";
import { conditionHistogram } from "../charts/conditionHistogram.js";
import { scalesOnce } from "../charts/distributions.js";
import { rowTable } from "../charts/rowTable.js";
import { counted, percentText, shareText, sum, whole } from "../core/format.js";
import { actionButton, h, muted, put, scrolling, sentence } from "../core/dom.js";
import { alone } from "../edit/ruleEdits.js";
import { kindOf, shownMove, shownNumber, speaksFor } from "../model/kind.js";
import { wilson } from "../model/measures.js";
import { phrasesOf } from "../model/ruleText.js";
import { coverageOf } from "../model/store.js";

const MOST_ERRORS = 8;

/**
 * @param {object} store
 * @param {object} entry
 * @param {object} actions
 * @param {Set<number>} editing numbers of the rules that are being changed
 * @returns {HTMLElement}
 */
export function openedRule(store, entry, actions, editing) {
  const place = h("div", "opened-rule");
  const { number } = entry;
  draw();
  return place;

  function toggle() {
    if (editing.has(number)) editing.delete(number);
    else editing.add(number);
    draw();
    place.querySelector(".editing")?.focus();
  }

  function draw() {
    const isEditing = editing.has(number);
    put(
      place,
      h(
        "div",
        "toolbar",
        h("button", { type: "button", class: "editing", "aria-pressed": String(isEditing), onclick: toggle }, "Edit"),
        actionButton("Remove", () => actions.remove(number), "", `Remove rule ${number}`),
        actionButton("Copy link", (event) => actions.copyLink(event.currentTarget, `rule-${number}`)),
      ),
      isEditing ? actions.ruleEditor(entry) : entry.rule.if.length ? conditionsBlock(store, entry) : null,
      h(
        "div",
        "columns",
        block("Coverage", coverage(store, entry)),
        kindOf(store.facts.model).isNumber
          ? block("Its rows", coveredNumbers(store, entry))
          : block("Errors", errors(store, entry, actions)),
      ),
    );
  }
}

function block(title, ...children) {
  return h("section", {}, h("h3", {}, title), children);
}

function conditionsBlock(store, entry) {
  const scales = scalesOnce(store);
  const legend = "Outline: all rows. Pale: rows that meet the other conditions. Solid: rows that the rule covers.";
  return h(
    "div",
    {},
    h(
      "ul",
      "large-conditions",
      phrasesOf(store, entry).map(({ parts, places }) => {
        const charts = places.map((k) => conditionHistogram(store, entry, k, scales.get(entry.rule.if[k].attribute)));
        return h("li", {}, h("p", "phrase name", sentence(parts)), charts);
      }),
    ),
    store.rows ? h("p", "muted legend", legend) : null,
  );
}

function coverage(store, entry) {
  const { known, rule } = entry;
  if (known.covered === null || known.covered === undefined)
    return muted("Unknown: the model has no statistics, and the page no rows.");
  const fraction = coverageOf(entry, store);
  const total = fraction ? Math.round(known.covered / fraction) : known.n_rows;
  const parts = [
    h("p", {}, `${counted(known.covered, "row")}${total ? ` of ${whole(total)}` : ""}, ${percentText(fraction)}.`),
    known.support ? classBar(store, known.support) : null,
    decidesText(store, entry),
    returnsText(store, entry),
  ];
  // What it alone covered among the rules as learned says nothing about the edited ones.
  const always = rule.if.length ? store.state.entries.filter((one) => !one.rule.if.length).length : 0;
  const learned = store.isEdited || always ? null : known.alone;
  const byItself = store.rows ? alone(store.state, entry.cover, always) : learned;
  if (byItself !== null && byItself !== undefined) {
    const basis = store.rows && store.facts.data.sampled ? " of the embedded rows" : "";
    const others = always ? " with conditions" : "";
    const text = byItself ? `${counted(byItself, "row")}${basis} no other rule${others} covers.` : `Other rules${others} cover all of them, too.`;
    parts.push(h("p", {}, text));
  }
  if (kindOf(store.facts.model).isAlone) parts.push(muted(`Weight ${shareText(rule.weight)}.`));
  if (rule.source !== undefined)
    parts.push(muted(`Made from training row ${rule.source}.`));
  return parts;
}

/** How often about the same rule was learned from resampled rows. */
function returnsText({ facts }, { known }) {
  if (known.returns === null || known.returns === undefined) return null;
  const { n_resamples: n } = facts.stability;
  return h("p", {}, `About the same rule was learned from ${Math.round(known.returns * n)} of ${n} resamples.`);
}

function decidesText(store, { number }) {
  const found = store.state.decides?.get(number);
  if (!found) return null;
  if (!found.rows) return h("p", {}, "It decides nothing: wherever it holds, another rule counts more.");
  const head = `It decides ${counted(found.rows, "row")}`;
  if (found.right === null) return h("p", {}, `${head}.`);
  const [low, high] = wilson(found.right, found.rows);
  return h(
    "p",
    {},
    `${head}, ${whole(found.right)} of them correctly: ${percentText(found.right / found.rows)} (95 % interval ${percentText(low)} to ${percentText(high)}).`,
  );
}

function errors(store, entry, actions) {
  const { rows, state, facts } = store;
  const isRight = speaksFor(facts.model, entry.rule);
  if (isRight(0) === null) return muted("It names no class that could be wrong.");
  if (!rows || !rows.classes) {
    const { support } = entry.known;
    if (!support) return muted("Unknown without labelled rows.");
    const wrong = sum(support.filter((_, c) => !isRight(c)));
    const text = wrong ? `${counted(wrong, "training row")} of other classes; give the report data to see them.` : "None in the training data.";
    return h("p", {}, text);
  }
  const wrong = [];
  for (let i = 0; i < rows.n; i += 1) if (entry.cover[i] && !isRight(rows.classes[i])) wrong.push(i);
  const basis = facts.data.sampled ? " in the embedded rows" : "";
  if (!wrong.length) return h("p", {}, `None${basis}: all rows that it covers are of its class.`);
  const corrected = wrong.filter((i) => state.decided[i] === rows.classes[i]).length;
  const names = [...new Set(entry.rule.if.map((condition) => condition.attribute))].slice(0, 4);
  const columns = names.map((name) => facts.model.attributes.findIndex((attribute) => attribute.name === name));
  return [
    h("p", {}, `${counted(wrong.length, "row")} of another class`, corrected ? `; other rules correct ${corrected} of them.` : "."),
    scrolling(
      `Rows of other classes that rule ${entry.number} covers`,
      rowTable(store, actions, {
        shown: wrong.slice(0, MOST_ERRORS),
        columns,
        known: [{ title: "Is", cell: (i) => classLabel(store, facts.model.classes[rows.classes[i]]) }],
      }),
    ),
    wrong.length > MOST_ERRORS ? muted(`and ${wrong.length - MOST_ERRORS} more`) : null,
  ];
}

/** The numbers of the rows that a rule covers, beside those of all rows. */
function coveredNumbers({ rows, facts, state }, { cover }) {
  if (!rows || !rows.truth) return muted("Unknown without rows whose number is known.");
  const covered = [...rows.truth.keys()].filter((i) => cover[i]);
  if (!covered.length) return muted("It covers no row.");
  const text = (value) => shownNumber(facts, value);
  const truth = covered.map((i) => rows.truth[i]);
  const wrong = covered.map((i) => state.answers[i] - rows.truth[i]);
  const basis = facts.data.sampled ? "embedded row" : "row";
  return [
    h(
      "p",
      {},
      `The ${counted(covered.length, basis)} that it covers are ${text(mean(truth))} on average, ${text(Math.min(...truth))} to ${text(Math.max(...truth))}; all rows are ${text(mean([...rows.truth]))}.`,
    ),
    h("p", {}, `Mean absolute error of the model on them: ${text(mean(wrong.map(Math.abs)))}; mean error ${shownMove(facts, mean(wrong))}.`),
  ];
}

function mean(numbers) {
  return sum(numbers) / numbers.length;
}

/**
 * What the rules predict of a row: the number with its interval, how it comes about, what each attribute alone
 * could make of it, and the rules that hold.
 */

import { answerLabel, shareBar } from "../charts/chart.js";
import { h, named, put } from "../core/dom.js";
import { degrees, explain } from "../../../export/evaluator.js";
import { firedList, nearList } from "./firedRules.js";
import { allCurves, extremes } from "./numberCurves.js";
import { addsNumbers, saidNumber, saidText, shownMove, shownNumber } from "../model/regression.js";
import { scalesOnce } from "../charts/distributions.js";
import { resultFrame } from "./resultFrame.js";
import { waterfall } from "../charts/waterfall.js";
import { counted, percentText, showValue } from "../core/format.js";

const MOST_RULES = 12;
const MOST_ATTRIBUTES = 6;
/** Of the intervals that are known, the widest one up to this level is shown. */
const LEVEL = 0.9;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{element: HTMLElement, update: function(Array, ?number, Set<number>): void}}
 */
export function numberResult(store, actions) {
  const prediction = h("p", { class: "decision" });
  const interval = h("p", { class: "interval-text" });
  const truth = h("p", { class: "truth" });
  const reason = h("div", { class: "reason" });
  const now = [prediction, interval, truth];
  const frame = resultFrame("Prediction", now, [reason], "What each attribute alone could make of it");
  return { element: frame.element, update };

  function update(values, row, locked) {
    const { model } = store.state;
    const explained = explain(model, values);
    const held = degrees(model, values);
    put(prediction, answerLabel(store, explained.prediction));
    interval.textContent = intervalText(store, explained.prediction);
    truth.textContent = truthText(store, row, explained.prediction);
    const parts = partsOf(model, held, explained);
    put(reason, reasonOf(store, parts, held, explained));
    put(frame.firing, firingList(store, parts, held, values, explained, actions));
    frame.later(async (isStale) => {
      const curves = await allCurves(model, values, scalesOnce(store), isStale);
      if (!curves || isStale()) return null;
      actions.showStrips(curves);
      return reachItems(store, curves, locked);
    });
  }
}

/** What each rule adds to the base, or its share in the mean. */
function partsOf(model, held, { rule }) {
  const counts = held.map((degree, r) => degree * model.rules[r].weight);
  if (addsNumbers(model)) return counts.map((count, r) => count * model.rules[r].then);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > 0) return counts.map((count) => count / total);
  return counts.map((_, r) => (r + 1 === rule ? 1 : 0));
}

/** Of the rules as learned; what was held back says nothing about edited ones. */
function intervalText({ facts, state }, prediction) {
  const kept = state.model.about.intervals?.half_widths;
  // A file may say anything.
  const known = Array.isArray(kept)
    ? kept.filter((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite))
    : [];
  if (!known.length) return "";
  const fitting = known.filter(([level]) => level <= LEVEL);
  const [level, width] = fitting.at(-1) ?? known[0];
  const [low, high] = [prediction - width, prediction + width].map((end) => shownNumber(facts, end));
  return `${percentText(level)} interval: ${low} to ${high}`;
}

function truthText({ rows, facts }, row, prediction) {
  if (row === null) return "An invented row.";
  const name = `Row ${rows.name(row)}`;
  if (!rows.truth) return `${name}.`;
  const truth = rows.truth[row];
  return `${name} is ${shownNumber(facts, truth)} in the data: off by ${shownMove(facts, prediction - truth)}.`;
}

function reasonOf(store, parts, held, { prediction, rule, fired }) {
  const { facts, state } = store;
  const { model, entries } = state;
  const show = (value) => shownNumber(facts, value);
  if (addsNumbers(model)) {
    const lead = { lead: prediction, base: model.base[0], added: parts };
    const shown = {
      total: "prediction",
      origin: null,
      endText: show,
      text: (value) => shownMove(facts, value),
    };
    const head = fired.length
      ? `The base is ${show(model.base[0])}; ${fired.length === 1 ? "one rule adds" : `${fired.length} rules add`} ${shownMove(facts, prediction - model.base[0])}.`
      : `No rule holds: the base ${show(model.base[0])} is the answer.`;
    return [h("p", {}, head), waterfall(store, lead, held, shown)];
  }
  const sharing = parts.flatMap((share, r) => (share > 0 ? [r] : []));
  if (!sharing.length) return h("p", {}, `No rule holds: the base ${show(prediction)} is the answer.`);
  if (rule !== null)
    return h("p", {}, `No rule covers this row. Rule ${entries[rule - 1].number} is the nearest, and its number is the answer.`);
  sharing.sort((a, b) => parts[b] - parts[a]);
  const rest = sharing.length - MOST_RULES;
  return [
    h("p", {}, "The mean of the numbers of the rules that hold, each with its share:"),
    h(
      "ul",
      { class: "scores shares" },
      sharing.slice(0, MOST_RULES).map((r) =>
        h(
          "li",
          {},
          h("span", {}, `rule ${entries[r].number}`),
          shareBar(parts[r]),
          h("span", { class: "number" }, percentText(parts[r])),
          h("span", { class: "number" }, `of ${show(saidNumber(model, entries[r].rule))}`),
        ),
      ),
    ),
    rest > 0 ? h("p", { class: "muted" }, `and ${counted(rest, "more rule")}`) : null,
  ];
}

/** Attributes by how far they alone can move the number. */
function reachItems({ facts }, curves, locked) {
  const found = [...curves]
    .filter(([j]) => !locked.has(j))
    .map(([j, points]) => ({ attribute: facts.model.attributes[j], ...extremes(points) }))
    .filter(({ lowest, highest }) => highest.answer > lowest.answer)
    .sort((a, b) => b.highest.answer - b.lowest.answer - (a.highest.answer - a.lowest.answer));
  const kept = locked.size ? ` ${counted(locked.size, "attribute")} kept.` : "";
  if (!found.length) return h("p", { class: "muted" }, `No single attribute within its range alters it.${kept}`);
  const at = (attribute, { at: place }) =>
    showValue(attribute, attribute.categories ? attribute.categories[place] : place);
  return [
    h(
      "ul",
      { class: "reach" },
      found.slice(0, MOST_ATTRIBUTES).map(({ attribute, lowest, highest }) =>
        h(
          "li",
          {},
          h("b", {}, named(attribute.name)),
          `: ${shownNumber(facts, lowest.answer)} at `,
          named(at(attribute, lowest)),
          ` to ${shownNumber(facts, highest.answer)} at `,
          named(at(attribute, highest)),
        ),
      ),
    ),
    h("p", { class: "muted" }, `Lowest and highest along the curves below the attributes.${kept}`),
  ];
}

function firingList(store, parts, held, values, explained, actions) {
  const { entries, model } = store.state;
  const fired = held.flatMap((degree, r) => (degree > 0 ? [r] : []));
  if (!fired.length)
    return nearList(store, held, values, explained, actions) ?? h("p", { class: "muted" }, "None.");
  fired.sort((a, b) => Math.abs(parts[b]) - Math.abs(parts[a]));
  const text = (r) =>
    addsNumbers(model)
      ? `adds ${shownMove(store.facts, parts[r])}`
      : `${percentText(parts[r])} of ${saidText(model, entries[r].rule)}`;
  return firedList(store, fired, values, { held, text, actions });
}

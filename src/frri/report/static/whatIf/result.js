/**
 * What the model answers about a row: the answer and how sure it is, why, what would change it, and how it is computed.
 */

import { answerLabel, classColour, shareBar } from "../charts/chart.js";
import { scalesOnce } from "../charts/distributions.js";
import { h, named, put, sentence } from "../core/dom.js";
import { counted, percentText, shareText, showValue, signedText, withMinus } from "../core/format.js";
import { degrees, explain, predict, probabilities, scores } from "../core/evaluator.js";
import { isCalibrated, kindOf, partsOf, saidText, shownMove, shownNumber } from "../model/kind.js";
import { certaintyParts } from "./certainty.js";
import { isStraight } from "./classStrips.js";
import { contributionBars } from "./contributionBars.js";
import { allClassStrips, severalChanges, singleChanges } from "./counterfactuals.js";
import { firedList, nearList } from "./firedRules.js";
import { allCurves, extremes } from "./numberCurves.js";

const MOST_CLASSES = 6;
const MOST_CHANGES = 2;
const MOST_COLUMNS = 6;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{element: HTMLElement, update: function(Array, ?number, Set<number>): void}}
 */
export function whatIfResult(store, actions) {
  const kind = kindOf(store.facts.model);
  const decision = h("p", { class: "decision" });
  const sure = h("p", { class: "sure" });
  const truth = h("p", { class: "truth" });
  const why = h("div", { class: "reason" });
  const change = h("div", { class: "change" }, h("p", { class: "muted" }, "Searching …"));
  const computed = h("div", { class: "firing" });
  const changing = kind.isNumber ? "What each column alone could make of it" : "What would change it";
  const element = h(
    "section",
    { class: "verdict", "aria-label": kind.answer },
    h("div", { class: "card now", role: "status" }, h("h2", { class: "kicker" }, kind.answer), decision, sure, truth),
    h("div", { class: "card" }, h("h3", {}, "Why"), why),
    h("div", { class: "card" }, h("h3", {}, changing), change),
    h("details", { class: "card" }, h("summary", {}, "How it is computed"), computed),
  );
  let turn = 0;
  return { element, update };

  function update(values, row, locked) {
    const { model } = store.state;
    const explained = explain(model, values);
    const held = degrees(model, values);
    const about = { model, values, explained, held, parts: partsFor(model, values, held, explained) };
    put(decision, answerLabel(store, explained.prediction));
    put(truth, truthText(store, row, explained.prediction));
    put(why, whyBlock(store, about, actions));
    put(computed, computedBlock(store, about, actions));
    turn += 1;
    const mine = turn;
    const isStale = () => mine !== turn;
    change.setAttribute("aria-busy", "true");
    // When the answer has been painted.
    setTimeout(async () => {
      if (isStale()) return;
      const certain = await certaintyParts(store, values, explained, isStale);
      if (isStale()) return;
      put(sure, sentence(certain));
      const found = await (kind.isNumber ? reach : changes)(store, values, locked, actions, isStale);
      if (!found || isStale()) return;
      put(change, found);
      change.removeAttribute("aria-busy");
    });
  }
}

/** What each rule counts or adds: to a sum, or its share in a mean. */
function partsFor(model, values, held, explained) {
  const { adds, isNumber } = kindOf(model);
  if (adds) return partsOf(model, held, scores(model, values), explained.prediction);
  const { classes, costs, rules } = model;
  const counts = rules.map(({ weight, then }, r) => weight * held[r] * (costs?.[classes.indexOf(then)] ?? 1));
  if (!isNumber) return { added: counts };
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { added: counts.map((count, r) => (total > 0 ? count / total : Number(r + 1 === explained.rule))) };
}

function truthText({ rows, facts }, row, prediction) {
  if (row === null) return "Your own case.";
  const name = `Row ${rows.name(row)}`;
  if (rows.truth)
    return `${name} is ${shownNumber(facts, rows.truth[row])} in the data: error ${shownMove(facts, prediction - rows.truth[row])}.`;
  if (!rows.classes) return `${name}.`;
  const label = facts.model.classes[rows.classes[row]];
  return [`${name} is `, named(label), ` in the data: the decision is ${label === prediction ? "correct" : "wrong"}.`];
}

// ------------------------------------------------------------------ why

function whyBlock(store, about, actions) {
  const { model, values, explained, parts } = about;
  const { adds, addsVotes, moves, isAlone, isNumber, isOrdered } = kindOf(model);
  const { fired, rule, prediction } = explained;
  if (adds) {
    const text = addsVotes
      ? ["Columns by what they add to the lead of ", named(prediction), parts.second === undefined ? "" : [" over ", named(parts.second)], ":"]
      : `Columns by what they add${moves ? "; the higher the sum, the higher the class" : ""}:`;
    return [h("p", {}, text), contributionBars(store, values, parts)];
  }
  if (!fired.length) return h("p", {}, sentence(silentParts(store, model, rule, prediction)));
  const text = isNumber
    ? "The mean of the numbers of the rules that hold, weighted:"
    : isOrdered
      ? "These rules hold:"
      : model.semantics.name === "first-match"
        ? `Rule ${store.state.entries[rule - 1].number} is the first in the list that holds:`
        : `Rule ${store.state.entries[rule - 1].number} decides:`;
  const shown = isAlone ? [rule - 1] : firedByPart(about);
  return [h("p", {}, text), firedList(store, shown, values, { text: partText(store, about), actions })];
}

function silentParts({ state }, model, rule, prediction) {
  if (kindOf(model).isNumber && rule === null) return ["No rule holds: the base is the answer."];
  if (rule === null)
    return [`No rule covers this row: the most frequent class in training${model.costs ? ", times its cost," : ""} decides, `, { name: prediction }, "."];
  const how = {
    nearest: "is the nearest to covering it and decides: ",
    stretched: "counts most up to its first condition that fails and decides: ",
    partial: "counts most by the conditions that hold and decides: ",
  };
  const answer = kindOf(model).isNumber ? saidText(model, model.rules[rule - 1]) : prediction;
  return [`No rule covers this row. Rule ${state.entries[rule - 1].number} ${how[model.semantics.fallback]}`, { name: answer }, "."];
}

/** Positions of the rules that fire, those that count most first; in a list in its order. */
function firedByPart({ model, explained, parts }) {
  const fired = explained.fired.map((number) => number - 1);
  if (model.semantics.name === "first-match") return fired;
  return fired.sort((a, b) => Math.abs(parts.added[b]) - Math.abs(parts.added[a]));
}

function partText({ facts, state }, { model, parts }) {
  const { isNumber, adds } = kindOf(model);
  if (adds) return (r) => (isNumber ? shownMove(facts, parts.added[r]) : signedText(parts.added[r]));
  if (isNumber) return (r) => `${percentText(parts.added[r])} of ${saidText(model, state.entries[r].rule)}`;
  return () => "";
}

/** Degrees, weights and scores: all rules that hold, those that nearly do, and what each class comes to. */
function computedBlock(store, about, actions) {
  const { model, values, explained, held, parts } = about;
  const { entries } = store.state;
  const fired = firedByPart(about);
  const { isAlone, isNumber, adds } = kindOf(model);
  const how = (r) =>
    adds || isNumber
      ? partText(store, about)(r)
      : `${shareText(held[r])} × ${shareText(entries[r].rule.weight)}${model.costs ? " × cost" : ""} = ${shareText(parts.added[r])}`;
  return [
    h("p", { class: "muted" }, adds ? "What each rule adds, times the degree to which it holds." : "Degree to which a rule holds × its weight."),
    fired.length ? firedList(store, fired, values, { text: how, held, deciding: isAlone ? explained.rule - 1 : null, actions }) : h("p", { class: "muted" }, "No rule covers this row."),
    nearList(store, values, explained, actions),
    isNumber ? null : [h("h4", {}, "Classes"), h("ul", { class: "scores" }, classItems(store, model, values))],
  ];
}

function classItems(store, model, values) {
  const perClass = scores(model, values);
  const { isOrdered, addsVotes } = kindOf(model);
  const scoreText = addsVotes ? signedText : shareText;
  const isSure = isCalibrated(model);
  const shares = probabilities(model, values);
  const order = shares.map((share, c) => [share, c]).sort((a, b) => b[0] - a[0]);
  // With few classes their order stays, so that nothing jumps while a slider moves.
  if (order.length <= MOST_CLASSES) order.sort((a, b) => a[1] - b[1]);
  const items = order.slice(0, MOST_CLASSES).map(([share, c]) =>
    h(
      "li",
      {},
      answerLabel(store, model.classes[c]),
      isSure ? shareBar(share, classColour(store.facts, c)) : h("span", {}),
      h("span", { class: "number" }, isSure ? percentText(share) : ""),
      isOrdered && !c ? null : h("span", { class: "muted number" }, `${isOrdered ? "at least" : "score"} ${scoreText(perClass[c])}`),
    ),
  );
  if (order.length > MOST_CLASSES)
    items.push(h("li", { class: "muted" }, `and ${order.length - MOST_CLASSES} more classes`));
  return items;
}

// ------------------------------------------------------------------ what would change it

/** The nearest changes of what may be changed. */
async function changes(store, values, locked, actions, isStale) {
  const { model, decided } = store.state;
  const strips = await allClassStrips(model, values, isStale);
  if (!strips || isStale()) return null;
  actions.showStrips(strips);
  const { found, reached } = singleChanges(model, values, strips, locked, MOST_CHANGES);
  let several = null;
  if (!found.length && store.rows) several = await severalChanges(model, values, store.rows, decided, locked, isStale);
  if (several === undefined) return null;
  const kept = locked.size ? ` ${counted(locked.size, "column")} fixed.` : "";
  if (!found.length && !several) {
    const where = store.rows ? "no single column within its range, and no embedded row, changes the decision" : "no single column within its range changes the decision";
    return h("p", { class: "muted" }, `Nothing found: ${where}.${kept}`);
  }
  const others = model.classes.filter((label) => !reached.has(label) && label !== predict(model, values));
  const notes = [];
  if (several) notes.push("No single column is enough. Found by search: a smaller change may exist.");
  else if (isStraight(model)) notes.push("The nearest values of single columns, proven; rounded, if at all, beyond the border.");
  else notes.push("Found by search along single columns.");
  if (!several && others.length && model.classes.length <= MOST_CLASSES)
    notes.push(`No single column leads to ${others.join(" or ")}.`);
  return [
    h("ol", { class: "changes" }, (several ? [several] : found).map((one) => changeItem(store, values, one, actions))),
    h("p", { class: "muted" }, `${notes.join(" ")}${kept}`),
  ];
}

function changeItem(store, values, { changed, values: after, prediction, rule, silent }, actions) {
  const { model, entries } = store.state;
  const number = rule === null ? null : entries[rule - 1].number;
  const decider = silent ? `; no rule covers it then, and rule ${number} is the nearest` : ` (rule ${number})`;
  const phrases = changed.flatMap((j, i) => {
    const attribute = model.attributes[j];
    const [old, now] = [values[j], after[j]].map((value) =>
      typeof value === "number" && attribute.kind === "numeric" ? withMinus(String(Number(value.toPrecision(12)))) : showValue(attribute, value),
    );
    return [i ? ", and " : "", named(attribute.name), " were ", named(now), " instead of ", named(old)];
  });
  return h(
    "li",
    {},
    h("p", {}, "It would be ", answerLabel(store, prediction), " if ", phrases, number === null ? null : decider, "."),
    h("button", { type: "button", onclick: () => actions.setValues(after) }, "Make this change"),
  );
}

/** Columns by how far they alone can move a number. */
async function reach(store, values, locked, actions, isStale) {
  const { facts, state } = store;
  const curves = await allCurves(state.model, values, scalesOnce(store), isStale);
  if (!curves || isStale()) return null;
  actions.showStrips(curves);
  const found = [...curves]
    .filter(([j]) => !locked.has(j))
    .map(([j, points]) => ({ attribute: facts.model.attributes[j], ...extremes(points) }))
    .filter(({ lowest, highest }) => highest.answer > lowest.answer)
    .sort((a, b) => b.highest.answer - b.lowest.answer - (a.highest.answer - a.lowest.answer));
  const kept = locked.size ? ` ${counted(locked.size, "column")} fixed.` : "";
  if (!found.length) return h("p", { class: "muted" }, `No single column within its range changes it.${kept}`);
  const end = (attribute, { at, answer }) => [
    `${shownNumber(facts, answer)} at `,
    named(showValue(attribute, attribute.categories ? attribute.categories[at] : at)),
  ];
  return [
    h(
      "ul",
      { class: "reach" },
      found.slice(0, MOST_COLUMNS).map(({ attribute, lowest, highest }) =>
        h("li", {}, h("b", {}, named(attribute.name)), ": ", end(attribute, lowest), " to ", end(attribute, highest)),
      ),
    ),
    h("p", { class: "muted" }, `Lowest and highest along the curves below the columns.${kept}`),
  ];
}

/**
 * What the model answers about a row: the answer and how sure it is, why, what would change it, and how it is computed.
 */

import { answerLabel, classColour, shareBar } from "../charts/chart.js";
import { h, labelled, muted, named, option, put, sentence, span } from "../core/dom.js";
import { counted, percentText, shareText, showValue, signedText, sum, withMinus } from "../core/format.js";
import { predict, probabilities, scores } from "../core/evaluator.js";
import { isCalibrated, kindOf, levelOf, saidText, shownMove, shownNumber } from "../model/kind.js";
import { certaintyParts } from "./certainty.js";
import { isStraight, reaches } from "./classStrips.js";
import { contributionBars } from "./contributionBars.js";
import { allClassStrips, pairChanges, severalChanges, singleChanges } from "./counterfactuals.js";
import { firedList, nearestRule } from "./firedRules.js";
import { usedColumns } from "../model/ranking.js";
import { explanationOf } from "./explanation.js";
import { effectOf } from "../model/effects.js";

/** Rules that are shown as reasons; all others are where it is computed. */
const MOST_REASONS = 3;
const MOST_CLASSES = 6;
const MOST_CHANGES = 2;
/** Equal steps along the range of a column. */
const STEPS = 60;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{element: HTMLElement, update: function(Array, ?number, Set<number>): void, suspend: function(): void}}
 */
export function whatIfResult(store, actions) {
  const kind = kindOf(store.facts.model);
  const decision = h("p", "decision");
  const sure = h("p", "sure");
  const truth = h("p", "truth");
  const why = h("div", "reason");
  const change = h("div", "change", muted("Searching …"));
  const target = kind.isNumber ? targetField(store.facts, () => again()) : null;
  const computed = h("div", "firing");
  const element = h(
    "section",
    { class: "verdict", "aria-label": kind.answer },
    h("div", { class: "card now", role: "status" }, h("h2", "kicker", kind.answer), decision, sure, truth),
    h("div", "card", h("h3", {}, "Why"), why),
    h("div", "card", h("h3", {}, "What would change it"), target?.element, change),
    h("details", "card", h("summary", {}, "How it is computed"), computed),
  );
  let turn = 0;
  let again = () => {};
  return { element, update, suspend };

  /** Nothing is answered while a value cannot be read. */
  function suspend() {
    turn += 1;
    again = () => {};
    [sure, why, change, computed].forEach((place) => put(place));
    change.removeAttribute("aria-busy");
    put(decision, "–");
    put(truth, "Unknown until every value can be read.");
  }

  function update(values, row, locked) {
    const about = explanationOf(store.state.model, values);
    put(decision, answerLabel(store, about.prediction));
    put(sure, sentence(certaintyParts(store, about)));
    put(truth, truthText(store, row, about.prediction));
    put(why, whyBlock(store, about, actions));
    put(computed, computedBlock(store, about, actions));
    again = () => {
      turn += 1;
      const mine = turn;
      const isStale = () => mine !== turn;
      const search = { model: store.state.model, values, locked, target: target?.read(about.prediction) ?? null };
      change.setAttribute("aria-busy", "true");
      // When the answer has been painted.
      setTimeout(async () => {
        if (isStale()) return;
        const found = await changes(store, search, actions, isStale);
        if (!found || isStale()) return;
        put(change, found);
        change.removeAttribute("aria-busy");
      });
    };
    again();
  }
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
  const { model, values, fired, rule, prediction, second } = about;
  const { adds, addsVotes, moves, isAlone, isNumber } = kindOf(model);
  if (adds) {
    const text = addsVotes
      ? ["Columns by what they add to the lead of ", named(prediction), second === undefined ? "" : [" over ", named(second)], ":"]
      : `Columns by what they add${moves ? "; the higher the sum, the higher the class" : ""}:`;
    return [h("p", {}, text), contributionBars(store, about)];
  }
  const number = rule && store.state.entries[rule - 1].number;
  if (!fired.length) {
    const fallback = store.facts.fallbacks[rule === null ? (isNumber ? "base" : "priors") : model.semantics.fallback];
    return h("p", {}, `No rule fires: ${fallback}${rule === null ? "" : `, here rule ${number}`}.`);
  }
  const text = isNumber
    ? "The mean of the numbers of the rules that hold, weighted:"
    : !isAlone
      ? "These rules hold:"
      : `Rule ${number} ${model.semantics.name === "first-match" ? "is the first in the list that holds" : "decides"}:`;
  const shown = isAlone ? [rule - 1] : firedByPart(about);
  return [h("p", {}, text), firedList(store, shown, values, { text: partText(store, about), most: MOST_REASONS, actions })];
}

/** Positions of the rules that fire, those that count most first; in a list in its order. */
function firedByPart({ model, fired, added }) {
  const places = fired.map((number) => number - 1);
  if (model.semantics.name === "first-match") return places;
  return places.sort((a, b) => Math.abs(added[b]) - Math.abs(added[a]));
}

function partText({ facts, state }, { model, added }) {
  const { isNumber, adds } = kindOf(model);
  if (adds) return (r) => (isNumber ? shownMove(facts, added[r]) : signedText(added[r]));
  if (isNumber) return (r) => `${percentText(added[r])} of ${saidText(model, state.entries[r].rule)}`;
  return () => "";
}

/** Degrees, weights and scores: all rules that hold, those that nearly do, and what each class comes to. */
function computedBlock(store, about, actions) {
  const { model, values, rule, held, added } = about;
  const { entries } = store.state;
  const fired = firedByPart(about);
  const { isAlone, isNumber, adds } = kindOf(model);
  const how = (r) =>
    adds || isNumber
      ? partText(store, about)(r)
      : `${shareText(held[r])} × ${shareText(entries[r].rule.weight)}${model.costs ? " × cost" : ""} = ${shareText(added[r])}`;
  return [
    muted(adds ? "What each rule adds, times the degree to which it holds." : "Degree to which a rule holds × its weight."),
    fired.length ? firedList(store, fired, values, { text: how, held, deciding: isAlone ? rule - 1 : null, actions }) : muted("No rule covers this row."),
    nearestRule(store, values, about, actions),
    isNumber ? null : [h("h4", {}, "Classes"), h("ul", "scores", classItems(store, model, values)), isCalibrated(model) && muted(probabilityText(about))],
  ];
}

/** How the probability of the class decided for comes from the scores. */
function probabilityText({ model, values, prediction, fired }) {
  const c = model.classes.indexOf(prediction);
  const { class_counts: sizes, costs, trust = 1 } = model;
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const raw = percent(probabilities({ ...model, trust: 1 }, values)[c]);
  const score = kindOf(model).addsVotes ? "exp(score) divided by the sum of exp(score) over all classes" : fired.length ? "the score divided by the sum of all scores" : "what the fallback gives";
  const start = `Probability of ${prediction}: ${score}, ${raw}`;
  if (trust === 1) return `${start}.`;
  const weighted = sizes.map((size, k) => size * (costs?.[k] ?? 1));
  const frequency = percent(weighted[c] / sum(weighted));
  return `${start}; shrunk towards the frequency in training${costs ? " times the cost" : ""}: ${shareText(trust)} × ${raw} + ${shareText(1 - trust)} × ${frequency} = ${percent(probabilities(model, values)[c])}.`;
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
      span("number", isSure ? percentText(share) : ""),
      isOrdered && !c ? null : span("muted number", `${isOrdered ? "at least" : "score"} ${scoreText(perClass[c])}`),
    ),
  );
  if (order.length > MOST_CLASSES)
    items.push(h("li", "muted", `and ${order.length - MOST_CLASSES} more classes`));
  return items;
}

// ------------------------------------------------------------------ what would change it

/**
 * The number to reach: until one is typed, the end of the fifth of all numbers in which the answer is, towards the
 * middle or, once a side is chosen, on this side.
 */
function targetField(facts, changed) {
  const side = h("select", { id: "target-side", onchange: turned }, ["at least", "at most"].map((one) => option(one, one)));
  const input = h("input", { type: "text", id: "target", inputmode: "decimal", autocomplete: "off", oninput: typed });
  let isOwn = false;
  let isTurned = false;
  return { element: h("div", "target", labelled("Reach", side), labelled(named(facts.model.target), input)), read };

  function turned() {
    isTurned = true;
    changed();
  }

  function typed() {
    isOwn = input.value.trim() !== "";
    changed();
  }

  /** null where there is no number. */
  function read(answer) {
    const { edges } = facts.numbers;
    const level = levelOf(facts, answer);
    if (!isOwn && document.activeElement !== input) {
      if (!isTurned) side.value = level > edges.length / 2 ? "at most" : "at least";
      const place = side.value === "at most" ? level - 1 : level;
      input.value = shownNumber(facts, edges[Math.min(Math.max(place, 0), edges.length - 1)]);
    }
    const text = input.value.trim().replace(/^−/, "-");
    const isKnown = text !== "" && Number.isFinite(Number(text));
    input.setAttribute("aria-invalid", String(!isKnown));
    return isKnown ? { side: side.value, value: Number(text) } : null;
  }
}

/** The nearest changes of what may be changed: of single columns, and of several where these are not enough. */
async function changes(store, search, actions, isStale) {
  const { model, values, locked, target } = search;
  const { isNumber } = kindOf(model);
  const now = predict(model, values);
  const drawn = await (isNumber ? curvesOf(store, values, isStale) : allClassStrips(model, values, null, isStale));
  if (!drawn) return null;
  actions.showStrips(drawn);
  if (isNumber && !target) return muted("Give a number to reach.");
  if (isNumber && reaches(target, now)) return muted(`It is ${target.side} ${shownNumber(store.facts, target.value)} already.`);
  const strips = isNumber ? await allClassStrips(model, values, target, isStale) : drawn;
  if (!strips) return null;
  const { found, reached } = singleChanges(search, strips, MOST_CHANGES);
  const proven = isStraight(model) ? "The nearest values of single columns, proven; rounded, if at all, beyond the border." : "Found by search along single columns.";
  const notes = [found.length ? proven : "No single column within its range is enough."];
  const others = model.classes.filter((label) => !reached.has(label) && label !== now);
  if (found.length && others.length && model.classes.length <= MOST_CLASSES)
    notes.push(`No single column leads to ${others.join(" or ")}.`);
  const n = found.length;
  const rest = () => ({ ...search, locked: new Set([...locked, ...found.flatMap(({ changed }) => changed)]) });
  if (n < MOST_CHANGES) {
    const pairs = await pairChanges(rest(), MOST_CHANGES - n, isStale);
    if (!pairs) return null;
    found.push(...pairs);
  }
  if (found.length < MOST_CHANGES && store.rows) {
    const several = await severalChanges(rest(), otherRows(store, now, target), isStale);
    if (several === undefined) return null;
    if (several) found.push(several);
  }
  if (found.length > n) notes.push("Several columns together: found by search, a smaller change may exist.");
  if (locked.size) notes.push(`${counted(locked.size, "column")} fixed.`);
  return [h("ol", "changes", found.map((one) => changeItem(store, values, one, actions))), muted(notes.join(" "))];
}

/** Rows that are decided otherwise, or that reach a target. */
function* otherRows({ rows, state, facts }, now, target) {
  const own = facts.model.classes.indexOf(now);
  for (let i = 0; i < rows.n; i += 1)
    if (target ? reaches(target, state.answers[i]) : state.decided[i] !== own) yield rows.at(i);
}

/** What is predicted along each column that rules use. */
async function curvesOf(store, values, isStale) {
  const curves = new Map();
  for (const j of usedColumns(store.state.model)) {
    const points = await effectOf(store, j, STEPS, isStale, [values]);
    if (!points) return null;
    curves.set(j, points);
  }
  return curves;
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

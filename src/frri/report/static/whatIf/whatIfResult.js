/**
 * What the model says about a row: the decision with its reason, every class's score, what the other
 * classes would need, and the rules that hold or come near.
 */

import { allClassStrips, severalChanges, singleChanges } from "./counterfactuals.js";
import { classColour, classLabel, shareBar } from "../charts/chart.js";
import { h, named, put, sentence } from "../core/dom.js";
import { degrees, explain, predict, probabilities, scores } from "../../../export/evaluator.js";
import { mainRuleIn, boundingRulesIn } from "../model/contributions.js";
import { firedList, membershipsOf, nearList } from "./firedRules.js";
import { conditionParts } from "../text/ruleText.js";
import { isOrdered, movesAnswer } from "../model/ordinal.js";
import { isStraight } from "./classStrips.js";
import { resultFrame } from "./resultFrame.js";
import { addsVotes, leadOf } from "../model/votes.js";
import { waterfall } from "../charts/waterfall.js";
import {
  attributesByName,
  counted,
  missingText,
  percentText,
  shareText,
  showValue,
  signedText,
  withMinus,
} from "../core/format.js";

const MOST_CLASSES = 6;

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{element: HTMLElement, update: function(Array, ?number, Set<number>): void}}
 */
export function whatIfResult(store, actions) {
  const decision = h("p", { class: "decision" });
  const truth = h("p", { class: "truth" });
  const reason = h("p", { class: "reason" });
  const classes = h("ul", { class: "scores" });
  const frame = resultFrame("Decision", [decision, truth], [reason, classes], "What would change it");
  return { element: frame.element, update };

  function update(values, row, locked) {
    const { model, entries, decided } = store.state;
    const explained = explain(model, values);
    const held = degrees(model, values);
    put(decision, classLabel(store, explained.prediction));
    put(truth, truthText(store, row, explained.prediction));
    put(reason, sentence(reasonParts(store, model, values, explained, held)));
    put(classes, classItems(store, model, values));
    frame.firingTitle.textContent = addsVotes(model) ? "From the base to the answer" : "Rules that hold";
    put(frame.firing, firingList(store, entries, held, values, explained, actions));
    frame.later(async (isStale) => {
      const strips = await allClassStrips(model, values, isStale);
      if (!strips || isStale()) return null;
      actions.showStrips(strips);
      const found = singleChanges(model, values, strips, locked);
      let several = null;
      if (!found.size && store.rows)
        several = await severalChanges(model, values, store.rows, decided, locked, isStale);
      if (several === undefined) return null;
      return changeItems(store, model, values, { found, several, locked }, actions);
    });
  }
}

function truthText(store, row, prediction) {
  if (row === null || !store.rows.classes)
    return row === null ? "An invented row." : `Row ${store.rows.name(row)}.`;
  const label = store.facts.model.classes[store.rows.classes[row]];
  const name = `Row ${store.rows.name(row)}`;
  if (label === prediction) return `${name}: this is its class in the data, too.`;
  return [`${name} is `, named(label), " in the data: the decision is wrong."];
}

function reasonParts(store, model, values, { prediction, rule, score, fired }, held) {
  const entry = rule === null ? null : store.state.entries[rule - 1];
  const label = { name: prediction };
  if (addsVotes(model)) return votesParts(model, values, held, label);
  if (isOrdered(model)) return [...orderedParts(model, values, label), ...keeperParts(store, model, held, prediction)];
  if (!fired.length) return silentParts(model, entry, label);
  const number = `rule ${entry.number}`;
  const reasons = holdingParts(model, entry.rule, values);
  if (model.semantics.name === "first-match")
    return [`Because ${number} is the first in the list that holds`, ...reasons, "."];
  const counts = countsOf(model, held);
  const points = shareText(counts[rule - 1]);
  const head = [
    `Because ${number} holds to degree ${shareText(held[rule - 1])} and counts ${points}`,
    ...reasons,
    ".",
  ];
  if (model.semantics.name === "added-votes") {
    const own = fired.filter((other) => model.rules[other - 1].then === prediction).length;
    if (own > 1)
      head.push(` With it, ${counted(own, "rule")} for `, label, ` add up to ${shareText(score)}.`);
  }
  const rivals = fired.filter((other) => model.rules[other - 1].then !== prediction);
  if (!rivals.length) return [...head, " No rule for another class holds."];
  const best = rivals.reduce((a, b) => (counts[b - 1] > counts[a - 1] ? b : a));
  const against = store.state.entries[best - 1];
  return [
    ...head,
    ` Against it, rule ${against.number} for `,
    { name: against.rule.then },
    ` counts ${shareText(counts[best - 1])}.`,
  ];
}

/** What each rule counts: its weight times its degree, and the cost of its class if there are costs. */
function countsOf({ classes, costs, rules }, held) {
  return rules.map(({ weight, then }, r) => weight * held[r] * (costs?.[classes.indexOf(then)] ?? 1));
}

function votesParts(model, values, held, label) {
  const { second, lead, base } = leadOf(model, held, scores(model, values), label.name);
  const beside = second === undefined ? [] : [" more than those for ", { name: second }];
  const rules = held.some((degree) => degree > 0)
    ? "; the rules below add what is left."
    : ", and no rule holds.";
  return [
    "The votes for ",
    label,
    ` come to ${shareText(lead)}`,
    ...beside,
    `: ${signedText(base)} of it is the base${rules}`,
  ];
}

/** How much speaks for at least each class; the last one above one half is the answer. */
function orderedParts(model, values, label) {
  const steps = scores(model, values)
    .map((share, c) => [c, share])
    .slice(1, MOST_CLASSES)
    .flatMap(([c, share], k) => [k ? ", at least " : "At least ", { name: model.classes[c] }, `: ${percentText(share)}`]);
  return [...steps, ". The last class above one half is the answer: ", label, "."];
}

/** The rules that keep the answer from being lower or higher. */
function keeperParts({ state }, model, held, prediction) {
  if (movesAnswer(model)) return [];
  const ways = ["from being lower", "from being higher"];
  const said = boundingRulesIn(model)(held, model.classes.indexOf(prediction)).flatMap((number, k) =>
    number ? [`rule ${state.entries[number - 1].number} keeps it ${ways[k]}`] : [],
  );
  return said.length ? [` Most of all, ${said.join(", and ")}.`] : [];
}

function silentParts(model, entry, label) {
  if (!entry)
    return [
      `No rule holds for this row, so the most frequent class in training${model.costs ? ", times its cost," : ""} decides: `,
      label,
      ".",
    ];
  const how = {
    nearest: "is the nearest to covering it and decides: ",
    stretched: "counts most up to its first condition that fails and decides: ",
    partial: "counts most by the conditions that hold and decides: ",
  };
  const decides = `Rule ${entry.number} ${how[model.semantics.fallback]}`;
  return [`No rule covers this row. ${decides}`, label, "."];
}

/** The weakest condition of a rule that holds, with the row's value. */
function holdingParts(model, rule, values) {
  if (!rule.if.length) return [" (it has no conditions)"];
  const memberships = membershipsOf(model, rule, values);
  const weakest = memberships.indexOf(Math.min(...memberships));
  const condition = rule.if[weakest];
  const attributes = attributesByName(model);
  const attribute = attributes.get(condition.attribute);
  if (memberships[weakest] >= 1)
    return [
      rule.if.length > 1 ? ": all of its conditions hold fully" : ": its condition holds fully",
    ];
  const value = values[model.attributes.indexOf(attribute)];
  const shown = value === null ? missingText(model, attribute) : showValue(attribute, value);
  return [
    ": its weakest condition is ",
    ...conditionParts(condition, attribute, model.semantics.clip),
    `, and the value is `,
    { name: shown },
  ];
}

function classItems(store, model, values) {
  const perClass = scores(model, values);
  // Where no rule holds there is nothing to be scored; of ordered classes the reason has the scores.
  const isScored = !isOrdered(model) && perClass.some((score) => score !== 0);
  const scoreText = addsVotes(model) ? signedText : shareText;
  const shares = probabilities(model, values);
  const order = shares.map((share, c) => [share, c]).sort((a, b) => b[0] - a[0]);
  // With few classes their order stays, so that nothing jumps while a slider moves.
  if (order.length <= MOST_CLASSES) order.sort((a, b) => a[1] - b[1]);
  const items = order
    .slice(0, MOST_CLASSES)
    .map(([share, c]) =>
      h(
        "li",
        {},
        classLabel(store, model.classes[c]),
        shareBar(share, classColour(store.facts, c)),
        h("span", { class: "number" }, percentText(share)),
        isScored ? h("span", { class: "muted number" }, `score ${scoreText(perClass[c])}`) : null,
      ),
    );
  if (order.length > MOST_CLASSES)
    items.push(h("li", { class: "muted" }, `and ${order.length - MOST_CLASSES} more classes`));
  return items;
}

/** What every other class would need, the nearest first. */
function changeItems(store, model, values, { found, several, locked }, actions) {
  const exact = isStraight(model);
  const kept = locked.size ? `, ${counted(locked.size, "attribute")} kept` : "";
  if (!found.size && !several) {
    const where = store.rows
      ? "Nothing found: no single attribute within its range, and no embedded row, alters the decision"
      : "No change of a single attribute within its range alters the decision";
    return h("p", { class: "muted" }, `${where}${kept}.`);
  }
  const item = (change) => {
    const entry = change.rule === null ? null : store.state.entries[change.rule - 1];
    return h(
      "li",
      {},
      h(
        "p",
        {},
        "It would be ",
        classLabel(store, change.prediction),
        " if ",
        sentence(changedParts(model, values, change)),
        entry && deciderText(entry, change),
        ".",
      ),
      h(
        "button",
        { type: "button", onclick: () => actions.setValues(change.values) },
        "Make this change",
      ),
    );
  };
  const changes = several ? [several] : [...found.values()].slice(0, MOST_CLASSES - 1);
  const reached = new Set([predict(model, values), ...changes.map(({ prediction }) => prediction)]);
  const others = model.classes.filter((label) => !reached.has(label));
  const notes = [];
  if (several) notes.push("No single attribute is enough. Found by search: a smaller change may exist.");
  else if (exact) notes.push("Nearest values of a single attribute, proved; rounded, if at all, beyond the border.");
  else notes.push("Found by search along single attributes.");
  if (!several && others.length && model.classes.length <= MOST_CLASSES)
    notes.push(`No single attribute leads to ${others.join(" or ")}.`);
  if (kept) notes.push(`Unchanged${kept}.`);
  return [
    h("ol", { class: "changes" }, changes.map(item)),
    h("p", { class: "muted" }, notes.join(" ")),
  ];
}

function deciderText({ number }, { silent, isCarried }) {
  if (isCarried) return ` (rule ${number} carries it)`;
  return silent ? `; no rule covers it then, and rule ${number} is the nearest` : ` (rule ${number})`;
}

function changedParts(model, values, { changed, values: after }) {
  return changed.flatMap((j, i) => {
    const attribute = model.attributes[j];
    const [old, now] = [values[j], after[j]].map((value) => ({
      name:
        typeof value === "number" && attribute.kind === "numeric"
          ? withMinus(String(Number(value.toPrecision(12))))
          : showValue(attribute, value),
    }));
    return [i ? ", and " : "", { name: attribute.name }, " were ", now, " instead of ", old];
  });
}

function firingList(store, entries, held, values, explained, actions) {
  const { model } = store.state;
  const votes = addsVotes(model);
  const fired = explained.fired.map((number) => number - 1);
  const decided = model.classes.indexOf(explained.prediction);
  const mainRule = mainRuleIn(model)?.(held, scores(model, values), decided) ?? 0;
  const near = nearList(store, held, values, explained, actions);
  if (votes) {
    const lead = leadOf(model, held, scores(model, values), explained.prediction);
    return [waterfall(store, lead, held), fired.length ? listed(lead.added) : null];
  }
  if (!fired.length) return [h("p", { class: "muted" }, "None covers this row."), near];
  return [listed(countsOf(model, held)), near];

  function listed(counts) {
    if (model.semantics.name !== "first-match")
      fired.sort((a, b) => Math.abs(counts[b]) - Math.abs(counts[a]));
    const text = (r) =>
      movesAnswer(model)
        ? `moves by ${signedText(counts[r] * entries[r].rule.then)}`
        : votes
        ? `${signedText(counts[r])} to the lead`
        : `${shareText(held[r])} × ${shareText(entries[r].rule.weight)}${model.costs ? ` × cost = ${shareText(counts[r])}` : ""}`;
    return firedList(store, fired, values, { held, text, deciding: (explained.rule ?? mainRule) - 1, actions });
  }
}

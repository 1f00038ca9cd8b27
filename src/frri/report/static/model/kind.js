/**
 * The kinds of models: rules for classes, ordered classes or numbers, of which one decides, or which add up. What
 * views need to know of a kind is here, and nowhere else.
 */

import { numberText, signedText, sum, widthOf, withMinus } from "../core/format.js";

/**
 * @typedef {object} Kind
 * @property {boolean} isNumber     rules predict numbers
 * @property {boolean} isOrdered    classes have an order
 * @property {boolean} isAlone      one rule decides
 * @property {boolean} addsVotes    rules add votes for classes to a base
 * @property {boolean} addsNumbers  rules add numbers to a base
 * @property {boolean} moves        rules move the answer along the order of the classes
 * @property {boolean} adds         any of the last three
 * @property {string} answer        what a row gets: "Decision" or "Prediction"
 */

/** @type {Object<string, Kind>} */
const KINDS = Object.fromEntries(
  [
    ["best-rule", "isAlone"],
    ["added-votes", "isAlone"],
    ["first-match", "isAlone"],
    ["softmax-votes", "addsVotes"],
    ["at-least-class", "isOrdered"],
    ["cumulative-logits", "isOrdered", "moves"],
    ["weighted-mean", "isNumber"],
    ["added-contributions", "isNumber", "addsNumbers"],
  ].map(([name, ...is]) => {
    const [isNumber, isOrdered, isAlone, addsVotes, addsNumbers, moves] = [
      "isNumber", "isOrdered", "isAlone", "addsVotes", "addsNumbers", "moves",
    ].map((one) => is.includes(one));
    const adds = addsVotes || addsNumbers || moves;
    return [name, { isNumber, isOrdered, isAlone, addsVotes, addsNumbers, moves, adds, answer: isNumber ? "Prediction" : "Decision" }];
  }),
);

/**
 * @param {object} model
 * @returns {Kind}
 */
export function kindOf({ semantics }) {
  return KINDS[semantics.name];
}

/**
 * Whether the shares of classes are calibrated probabilities; only then are they shown as percentages.
 *
 * @param {object} model
 * @returns {boolean}
 */
export function isCalibrated(model) {
  return kindOf(model).addsVotes || model.trust !== undefined;
}

/**
 * The position of the rarest class in training, the last of equals: most often the one that is looked for.
 *
 * @param {object} model
 * @returns {number}
 */
export function rarest({ class_counts: counts }) {
  return counts.lastIndexOf(Math.min(...counts));
}

// ------------------------------------------------------------------ what a rule says

/** The ranges of the numbers of models, by their attributes, which edits leave as they are. */
const ranges = new WeakMap();

/**
 * Have numbers written as finely as their range asks for.
 *
 * @param {object} facts
 */
export function knowRange({ model, numbers }) {
  if (numbers) ranges.set(model.attributes, numbers);
}

/**
 * The number of a rule: what it adds to the base, or what it says.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {number}
 */
export function saidNumber(model, rule) {
  return kindOf(model).adds ? rule.weight * rule.then : rule.then;
}

/**
 * The number of a rule; contributions with their sign.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {string}
 */
export function saidText(model, rule) {
  const said = saidNumber(model, rule);
  if (kindOf(model).moves) return signedText(said);
  const facts = { numbers: ranges.get(model.attributes) };
  return kindOf(model).addsNumbers ? shownMove(facts, said) : shownNumber(facts, said);
}

/** What a full match says about each class, before its weight. */
function votesOf(model, rule) {
  return rule.votes ?? model.classes.map((label) => (label === rule.then ? 1 : 0));
}

/**
 * The classes that a rule speaks for.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {function(number): ?boolean} takes the position of a class; null where a rule names none
 */
export function speaksFor(model, rule) {
  const own = model.classes.indexOf(rule.then);
  if (own < 0 || rule.votes) return () => null;
  if (rule.relation === "at least") return (c) => c >= own;
  if (rule.relation === "at most") return (c) => c <= own;
  return (c) => c === own;
}

/**
 * The position of what a rule is drawn as among all that have colours: its class, the end of the order that it moves
 * towards, or the level of its number.
 *
 * @param {object} facts
 * @param {object} rule
 * @returns {number}
 */
export function ownSeries({ model, numbers }, rule) {
  const kind = kindOf(model);
  if (kind.isNumber) return levelIn(numbers.said, saidNumber(model, rule));
  if (kind.moves) return saidNumber(model, rule) < 0 ? 0 : model.classes.length - 1;
  if (rule.votes) return rule.votes.indexOf(Math.max(...rule.votes));
  return model.classes.indexOf(rule.then);
}

/**
 * How much a rule can alter an answer, to order rules by.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {number}
 */
export function strengthOf(model, rule) {
  const kind = kindOf(model);
  if (kind.addsNumbers || kind.moves) return Math.abs(saidNumber(model, rule));
  if (!rule.votes) return rule.weight;
  return rule.weight * (Math.max(...rule.votes) - Math.min(...rule.votes));
}

// ------------------------------------------------------------------ what adds up

/**
 * What the base and each rule add to an answer: to a number, to where it is along the order of the classes, or to the
 * lead of a class over the next one.
 *
 * @param {object} model whose rules add up
 * @param {number[]} held degrees of the rules
 * @param {number[]} found scores of the classes
 * @param {*} prediction
 * @returns {{total: number, base: number, added: number[], second: *}} the next class, undefined if there is none
 */
export function partsOf(model, held, found, prediction) {
  if (!kindOf(model).addsVotes) {
    const added = model.rules.map((rule, r) => saidNumber(model, rule) * held[r]);
    const base = kindOf(model).isNumber ? model.base[0] : 0;
    return { total: sum([base, ...added]), base, added, second: undefined };
  }
  const own = model.classes.indexOf(prediction);
  const others = found.map((score, c) => (c === own ? -Infinity : score));
  const next = others.length > 1 ? others.indexOf(Math.max(...others)) : -1;
  const over = (numbers) => numbers[own] - (next < 0 ? 0 : numbers[next]);
  return {
    second: model.classes[next],
    total: over(found),
    base: over(model.base),
    added: model.rules.map((rule, r) => rule.weight * held[r] * over(votesOf(model, rule))),
  };
}

// ------------------------------------------------------------------ numbers

/**
 * The level of a predicted or true number, from 0.
 *
 * @param {object} facts
 * @param {number} value
 * @returns {number}
 */
export function levelOf(facts, value) {
  return levelIn(facts.numbers.edges, value);
}

function levelIn(edges, value) {
  return edges.filter((edge) => edge <= value).length;
}

/**
 * A predicted or true number, to three more places than the range of such numbers.
 *
 * @param {object} facts
 * @param {number} value
 * @returns {string}
 */
export function shownNumber({ numbers }, value) {
  return withMinus(numberText(value, widthOf(numbers)));
}

/**
 * By how much a number is moved or missed, with its sign.
 *
 * @param {object} facts
 * @param {number} value
 * @returns {string}
 */
export function shownMove(facts, value) {
  return `${value < 0 ? "−" : "+"}${shownNumber(facts, Math.abs(value))}`;
}

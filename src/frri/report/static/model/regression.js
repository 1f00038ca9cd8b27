/** Rules that predict numbers: what a rule says, how numbers are written, and their level from low to high. */

import { general, numberText, widthOf, withMinus } from "../core/format.js";

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
 * @param {object} model
 * @returns {boolean} whether its rules predict numbers
 */
export function predictsNumbers(model) {
  return model.semantics.name === "weighted-mean" || addsNumbers(model);
}

/**
 * @param {object} model
 * @returns {boolean} whether its rules add numbers to a base
 */
export function addsNumbers({ semantics }) {
  return semantics.name === "added-contributions";
}

/**
 * The number of a rule: what it adds to the base, or what it says.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {number}
 */
export function saidNumber(model, rule) {
  return addsNumbers(model) ? rule.weight * rule.then : rule.then;
}

/**
 * The number of a rule, to six digits where no range of such numbers is known; contributions with their sign.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {string}
 */
export function saidText(model, rule) {
  const numbers = ranges.get(model.attributes);
  if (numbers) return saidShort({ model, numbers }, rule);
  const said = saidNumber(model, rule);
  return addsNumbers(model) ? signed(said, general) : withMinus(general(said));
}

/**
 * The number of a rule as short as predictions are written; contributions with their sign.
 *
 * @param {object} facts
 * @param {object} rule
 * @returns {string}
 */
export function saidShort(facts, rule) {
  const said = saidNumber(facts.model, rule);
  return addsNumbers(facts.model) ? shownMove(facts, said) : shownNumber(facts, said);
}

/**
 * The level of what a rule says, from 0: the number of its colour.
 *
 * @param {object} facts
 * @param {object} rule
 * @returns {number}
 */
export function saidLevel(facts, rule) {
  return levelIn(facts.numbers.said, saidNumber(facts.model, rule));
}

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

/**
 * What the levels of numbers are called, from the lowest.
 *
 * @param {object} facts
 * @returns {string[]}
 */
export function levelNames(facts) {
  const edges = facts.numbers.edges.map((edge) => shownNumber(facts, edge));
  const between = edges.slice(1).map((edge, k) => `${edges[k]} to ${edge}`);
  return [`below ${edges[0]}`, ...between, `from ${edges.at(-1)}`];
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
  return signed(value, (size) => shownNumber(facts, size));
}

function signed(value, text) {
  return `${value < 0 ? "−" : "+"}${text(Math.abs(value))}`;
}

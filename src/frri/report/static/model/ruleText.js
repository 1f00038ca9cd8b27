/**
 * Conditions and rules as phrases, in the words of Python's frri.rules.text with typographic signs. Those of learned
 * rules came with the page; here are those of edited ones.
 *
 * A sentence is an array of parts: plain texts, and names from the data as {name}.
 *
 * @typedef {Array<string|{name: *}>} Parts
 */

import { attributesByName, boundsOf, isStrict, rangeOf, shareText, show } from "../core/format.js";
import { kindOf, ownSeries, saidText } from "./kind.js";
import { isolate, plain } from "../core/dom.js";

/**
 * The phrases of the conditions of a rule; two bounds of one attribute may be one phrase.
 *
 * @param {object} store
 * @param {object} entry of a state
 * @returns {Array<{parts: Parts, places: number[]}>} each with the positions of its conditions
 */
export function phrasesOf({ facts }, { rule, known }) {
  if (known.words) return known.words.map(([text, places]) => ({ parts: [typographic(text)], places }));
  const attributes = attributesByName(facts.model);
  return rule.if.map((condition, k) => ({
    parts: conditionParts(condition, attributes.get(condition.attribute), facts.model.semantics.clip),
    places: [k],
  }));
}

/**
 * Conditions from both sides as one, so that they are one bar; where they hold fully nowhere, they stay apart.
 *
 * @param {object[]} conditions on one attribute
 * @returns {object[]}
 */
export function joinedConditions(conditions) {
  if (conditions.length < 2 || conditions.some(({ trapezoid }) => !trapezoid)) return conditions;
  const bounds = conditions.map(boundsOf);
  const [a, b] = [0, 1].map((k) => Math.max(...bounds.map((one) => one[k])));
  const [c, d] = [2, 3].map((k) => Math.min(...bounds.map((one) => one[k])));
  const open = (value) => (Number.isFinite(value) ? value : null);
  return b <= c ? [{ ...conditions[0], trapezoid: [a, b, c, d].map(open) }] : conditions;
}

/**
 * A condition as a phrase.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip whether values stay within the range
 * @returns {Parts}
 */
export function conditionParts(condition, attribute, clip) {
  const name = { name: condition.attribute };
  if (condition.values) {
    const values = [...condition.values].sort(byCodePoint);
    const { excludes } = condition;
    if (values.length === 1) return [name, excludes ? " ≠ " : " = ", { name: values[0] }];
    const listed = values.flatMap((value, i) => (i ? [", ", { name: value }] : [{ name: value }]));
    return [name, excludes ? " not in {" : " in {", ...listed, "}"];
  }
  const [before, after] = around(condition, attribute);
  const aside = partlyText(condition, attribute, clip);
  return [before, name, aside ? `${after} (${aside})` : after];
}

/**
 * What a rule can be found by: its conditions and what it says, as one text.
 *
 * @param {object} store
 * @param {object} entry
 * @returns {string}
 */
export function searchText(store, entry) {
  const { model } = store.facts;
  const { isNumber, moves } = kindOf(model);
  const { rule } = entry;
  const said = isNumber || moves ? saidText(model, rule) : model.classes[ownSeries(store.facts, rule)];
  const conditions = phrasesOf(store, entry).map(({ parts }) => plain(parts));
  return `rule if ${conditions.join(" and ") || "otherwise always"} then ${model.target} ${rule.relation ?? "="} ${said} ${rule.origin ?? "learned"}`;
}

/** Signs of a terminal as those of print. */
function typographic(text) {
  return text
    .replaceAll("<=", "≤")
    .replaceAll(">=", "≥")
    .replaceAll("!=", "≠")
    .replace(/(?<=[ (])-(?=\d)|^-(?=\d)/g, "−");
}

/** Where a condition fully holds: what stands before and after the name of its attribute. */
function around(condition, attribute) {
  if (attribute.categories) return aroundCategories(condition, attribute);
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf(condition);
  const strictLow = isStrict(coreLow, supportLow);
  const strictHigh = isStrict(coreHigh, supportHigh);
  const low = show(attribute, strictLow ? supportLow : coreLow);
  const high = show(attribute, strictHigh ? supportHigh : coreHigh);
  if (coreLow === coreHigh) return ["", ` = ${show(attribute, coreLow)}`];
  if (coreLow === -Infinity) {
    if (coreHigh === Infinity) return ["", " is anything"];
    return ["", ` ${strictHigh ? "<" : "≤"} ${high}`];
  }
  if (coreHigh === Infinity) return ["", ` ${strictLow ? ">" : "≥"} ${low}`];
  return [`${low} ${strictLow ? "<" : "≤"} `, ` ${strictHigh ? "<" : "≤"} ${high}`];
}

/** Of ordered categories, those for which the condition holds fully, or else those for which it holds partly. */
function aroundCategories(condition, attribute) {
  const members = membersOf(condition, attribute);
  const names = members.filter(([, degree]) => degree >= 1).map(([name]) => name);
  const categories = attribute.categories.map(isolate);
  if (!names.length) return ["", ` is ${partlyHeld(members).join(" or ") || "nothing known"}`];
  if (names.length === categories.length) return ["", " is anything"];
  const [first, last] = [names[0], names.at(-1)];
  if (first === last) return ["", ` = ${first}`];
  if (last === categories.at(-1)) return ["", ` ≥ ${first}`];
  return first === categories[0] ? ["", ` ≤ ${last}`] : [`${first} ≤ `, ` ≤ ${last}`];
}

function partlyHeld(members) {
  return members.filter(([, degree]) => degree < 1).map(([name, degree]) => `${name} to ${shareText(degree)}`);
}

/** Where a condition holds partly: "partly from 96", "partly to 161.3". Empty for one without slopes. */
function partlyText(condition, attribute, clip) {
  if (attribute.categories) {
    const members = membersOf(condition, attribute);
    return members.some(([, degree]) => degree >= 1) ? partlyHeld(members).join(", ") : "";
  }
  const [low, high] = endsOf(condition, attribute, clip);
  const ends = [low && (low.isReached ? `from ${low.text}` : "below"), high && (high.isReached ? `to ${high.text}` : "above")].filter(Boolean);
  const joint = [low, high].every((end) => !end || end.isReached) ? " " : " and ";
  return ends.length ? `partly ${ends.join(joint)}` : "";
}

/**
 * Where the slopes of a numeric condition end, null for a side without one; values that stay within the range never
 * get beyond it.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip
 * @returns {Array<?{text: string, isReached: boolean}>} below and above
 */
export function endsOf(condition, attribute, clip) {
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf(condition);
  const [least, most] = clip ? rangeOf(attribute) : [-Infinity, Infinity];
  const end = (core, support) =>
    !Number.isFinite(core) || core === support || isStrict(core, support)
      ? null
      : { text: show(attribute, support), isReached: support >= least && support <= most };
  return [end(coreLow, supportLow), end(coreHigh, supportHigh)];
}

/** The ordered categories that a condition holds for at all, each with its degree. */
function membersOf(condition, attribute) {
  const [a, b, c, d] = boundsOf(condition);
  const degree = (x) => {
    if (x < b) return Math.max((x - a) / (b - a), 0);
    return x > c ? Math.max((d - x) / (d - c), 0) : 1;
  };
  return attribute.categories
    .map((name, x) => [isolate(name), degree(x)])
    .filter(([, value]) => value > 0);
}

/** Python's order of texts: by code point, where JavaScript's own is by UTF-16 unit. */
function byCodePoint(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference) return difference;
  }
  return left.length - right.length;
}

/**
 * Conditions and rules as phrases: what Python's texts say, with typographic signs, and where conditions
 * end in the words of conditionText.js.
 *
 * A sentence is an array of parts: plain texts, and names from the data as {name}.
 *
 * @typedef {Array<string|{name: *}>} Parts
 */

import { addsNumbers, predictsNumbers, saidText } from "../model/regression.js";
import { movesAnswer } from "../model/ordinal.js";
import { endsText, membersOf } from "./conditionText.js";
import { addsVotes } from "../model/votes.js";
import { attributesByName, boundsOf, isStrict, show, signedText } from "../core/format.js";

/** Largest and smallest votes that are shown, if there are more than both together. */
const SHOWN_VOTES = 3;

/**
 * A condition as a phrase.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip
 * @returns {Parts}
 */
export function conditionParts(condition, attribute, clip) {
  const name = { name: condition.attribute };
  if (condition.values) {
    const values = [...condition.values].sort(byCodePoint);
    const { excludes } = condition;
    if (values.length === 1) return [name, excludes ? " is not " : " = ", { name: values[0] }];
    const listed = values.flatMap((value, i) => (i ? [", ", { name: value }] : [{ name: value }]));
    return [name, excludes ? " not in {" : " in {", ...listed, "}"];
  }
  const [before, after] = around(condition, attribute);
  const ends = endsText(condition, attribute, clip);
  return [before, name, ends ? `${after} (${ends})` : after];
}

/**
 * A condition in a few characters, for a label that has the attribute's name beside it.
 *
 * @param {object} condition
 * @param {object} attribute
 * @returns {Parts}
 */
export function shortParts(condition, attribute) {
  if (condition.values) {
    const values = [...condition.values].sort(byCodePoint);
    const shown = values.slice(0, 3).flatMap((v, i) => (i ? [", ", { name: v }] : [{ name: v }]));
    if (condition.excludes) shown.unshift("not ");
    return values.length > 3 ? [...shown, `, +${values.length - 3}`] : shown;
  }
  const [before, after] = around(condition, attribute);
  if (!before) return [after.trim()];
  return [before.replace(/ [<≤] $/, ""), " – ", after.replace(/^ [<≤] /, "")];
}

/**
 * A whole rule as a sentence.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {Parts}
 */
export function ruleParts(model, rule) {
  const attributes = attributesByName(model);
  const { clip } = model.semantics;
  const phrases = rule.if.map((c) => conditionParts(c, attributes.get(c.attribute), clip));
  const joined = phrases.flatMap((parts, i) => (i ? [" and ", ...parts] : parts));
  let head = ["If ", ...joined, ", then "];
  if (!rule.if.length) head = [model.semantics.name === "first-match" ? "Otherwise, " : "Always, "];
  return [...head, { name: model.target }, ...saidParts(model, rule), "."];
}

/** What a rule says about the target; where rules vote, their weight is part of it. */
function saidParts(model, rule) {
  if (rule.votes) return votesParts(model, rule);
  if (predictsNumbers(model)) return [addsNumbers(model) ? " " : " is ", saidText(model, rule)];
  if (movesAnswer(model)) return [` moves by ${signedText(rule.weight * rule.then)}`];
  if (rule.relation && rule.relation !== "is") return [` is ${rule.relation} `, { name: rule.then }];
  if (addsVotes(model)) return [" ", { name: rule.then }, ` ${signedText(rule.weight)}`];
  return [" is ", { name: rule.then }];
}

/** The votes of a rule for classes, the largest first; of many classes, both ends. */
function votesParts(model, rule) {
  const amounts = rule.votes.map((vote, c) => [rule.weight * vote, c]);
  amounts.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const shown = amounts.map(([amount, c]) => [{ name: model.classes[c] }, ` ${signedText(amount)}`]);
  if (shown.length > 2 * SHOWN_VOTES)
    shown.splice(SHOWN_VOTES, shown.length - 2 * SHOWN_VOTES, ["..."]);
  return shown.flatMap((parts, k) => [k ? ", " : " ", ...parts]);
}

/**
 * Where a condition fully holds, without the attribute's name: what stands before and after it.
 *
 * @param {object} condition
 * @param {object} attribute
 * @returns {[string, string]}
 */
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

/** Of ordered categories, those for which the condition holds fully; or at all, where there is none. */
function aroundCategories(condition, attribute) {
  const members = membersOf(condition, attribute);
  const full = members.filter(([, degree]) => degree >= 1);
  const names = (full.length ? full : members).map(([name]) => name);
  const { categories } = attribute;
  if (!names.length) return ["", " is nothing"];
  if (names.length === categories.length) return ["", " is anything"];
  const [first, last] = [names[0], names[names.length - 1]];
  if (first === last) return ["", ` = ${first}`];
  if (first === categories[0]) return ["", ` ≤ ${last}`];
  if (last === categories[categories.length - 1]) return ["", ` ≥ ${first}`];
  return [`${first} ≤ `, ` ≤ ${last}`];
}

/** Python's order of texts: by code point, where JavaScript's own is by UTF-16 unit. */
function byCodePoint(a, b) {
  const left = [...a];
  const right = [...b];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference) return difference;
  }
  return left.length - right.length;
}

/**
 * Edits of rules: each takes the JSON of a rule or a condition and returns a new one.
 */

import { boundsOf, rangeOf } from "../core/format.js";
import { kindOf } from "../model/kind.js";

/**
 * A rule with its conditions, its class or its weight replaced, as `with_changed_rule` does it: a rule
 * that was learned is marked as edited, and what was measured or learned for its old form goes.
 *
 * @param {object} rule
 * @param {{if?: object[], then?: *, weight?: number}} changes
 * @returns {object} the rule itself if nothing differs
 */
export function withChanges(rule, changes) {
  const edited = { ...rule, ...changes };
  const same = (key) => JSON.stringify(edited[key]) === JSON.stringify(rule[key]);
  const decides = same("if") && same("then");
  if (decides && same("weight")) return rule;
  if (!decides) {
    delete edited.distribution;
    delete edited.partial_weights;
    delete edited.votes;
  }
  if (rule.origin !== "written") edited.origin = "edited";
  delete edited.statistics;
  return edited;
}

/**
 * A first condition on an attribute: the middle half of its range, or its first category.
 *
 * @param {object} attribute
 * @returns {object}
 */
export function freshCondition(attribute) {
  if (attribute.kind === "nominal") {
    return { attribute: attribute.name, values: attribute.categories.slice(0, 1) };
  }
  const [low, high] = rangeOf(attribute);
  const known = Number.isFinite(low) && Number.isFinite(high);
  const quarter = known ? (high - low) / 4 : 0;
  const core = known ? [low + quarter, high - quarter] : [0, 0];
  return { attribute: attribute.name, trapezoid: [core[0], ...core, core[1]] };
}

/**
 * What is wrong with the bounds of a condition, in a sentence; null if nothing is.
 *
 * @param {Array<?number>} trapezoid
 * @returns {?string}
 */
export function complaint(trapezoid) {
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf({ trapezoid });
  if (!(supportLow <= coreLow && coreLow <= coreHigh && coreHigh <= supportHigh)) {
    return "The four bounds must ascend: it begins, holds from, holds to, ends.";
  }
  if (coreLow === Infinity || coreHigh === -Infinity)
    return "The condition would hold for no value.";
  if (
    (supportLow === -Infinity && coreLow !== -Infinity) ||
    (supportHigh === Infinity && coreHigh !== Infinity)
  ) {
    return "A side that fades must end somewhere: give it an end or open it fully.";
  }
  return null;
}

/**
 * A model with other rules: the edits are counted, and what was proved was proved of the rules before.
 *
 * @param {object} model
 * @param {object[]} rules
 * @returns {object}
 */
export function withRules(model, rules) {
  const { selection, intervals, monotone, ...about } = model.about;
  return { ...model, rules, about: { ...about, edits: editsOf(model) + 1 } };
}

/**
 * How often a model was edited, here and before.
 *
 * @param {object} model
 * @returns {number}
 */
export function editsOf({ about }) {
  return Number.isInteger(about.edits) ? Math.max(about.edits, 0) : 0;
}

/**
 * The JSON of the model, as the library loads it. Rules that were not edited keep their statistics;
 * where all training rows are here, those of all rules are counted again. What was done is in its log.
 *
 * @param {object} store
 * @param {string} [author] of the edits
 * @returns {object}
 */
export function exported(store, author = "") {
  const { state, facts } = store;
  const { isNumber, moves } = kindOf(state.model);
  const counts = facts.overview.is_training && !facts.data.sampled && !isNumber && !moves;
  if (!store.isEdited) return state.model;
  const { about } = state.model;
  const model = { ...state.model, about: { ...about, log: logOf(store, author) } };
  if (!counts) return model;
  const rules = state.entries.map(({ rule, known, cover }) => {
    const { support, precision, lift } = known;
    return { ...rule, statistics: { support, precision, lift, alone: alone(state, cover) } };
  });
  return { ...model, rules };
}

/** What was done to a model since it was learned, here and before, by whom and why. */
function logOf(store, author) {
  const before = store.facts.model.about.log;
  const date = new Date().toISOString().slice(0, 10);
  const steps = store.history.map(({ label, reason }) => ({ edit: label, reason, author, date }));
  return [...(Array.isArray(before) ? before : []), ...steps];
}

/**
 * How many embedded rows a rule alone covers.
 *
 * @param {object} state
 * @param {Uint8Array} cover
 * @param {number} [always] rules that cover every row and do not count
 * @returns {number}
 */
export function alone(state, cover, always = 0) {
  let count = 0;
  for (let i = 0; i < cover.length; i += 1) if (cover[i] && state.counts[i] === 1 + always) count += 1;
  return count;
}

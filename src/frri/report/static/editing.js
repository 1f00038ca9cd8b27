/**
 * Edits of rules: each takes the JSON of a rule or a condition and returns a new one.
 */

import { boundsOf, isStrict, rangeOf, widthOf } from "./words.js";

/** By which share of an attribute's range a condition is loosened or tightened. */
const STEP = 0.05;

/**
 * A rule with its conditions replaced; it is marked as edited unless a person wrote it anyway.
 *
 * @param {object} rule
 * @param {object[]} conditions
 * @returns {object}
 */
export function withConditions(rule, conditions) {
  const edited = {
    ...rule,
    if: conditions,
    origin: rule.origin === "written" ? "written" : "edited",
  };
  delete edited.statistics;
  // Weights of parts of a rule belong to the conditions that it had.
  if (conditions.length !== rule.if.length) delete edited.partial_weights;
  return edited;
}

/**
 * A rule with some properties replaced.
 *
 * @param {object} rule
 * @param {object} changes
 * @returns {object}
 */
export function withChanges(rule, changes) {
  const edited = { ...withConditions(rule, rule.if), ...changes };
  // The shares of a rule in a list stand for the class that it concluded.
  if ("then" in changes) delete edited.distribution;
  return edited;
}

/**
 * A rule written from scratch.
 *
 * @param {object[]} conditions
 * @param {*} then
 * @param {number} weight
 * @returns {object}
 */
export function writtenRule(conditions, then, weight) {
  return { if: conditions, then, weight, origin: "written" };
}

/**
 * A rule with every numeric condition moved outwards (or inwards).
 *
 * @param {object} rule
 * @param {Map<string, object>} attributes
 * @param {1|-1} direction 1 to loosen, -1 to tighten
 * @returns {object}
 */
export function stretched(rule, attributes, direction) {
  return withConditions(
    rule,
    rule.if.map((condition) =>
      stretchedCondition(condition, attributes.get(condition.attribute), direction),
    ),
  );
}

/**
 * A numeric condition with its closed sides moved outwards (or inwards), slopes and all.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {1|-1} direction
 * @returns {object}
 */
export function stretchedCondition(condition, attribute, direction) {
  if (condition.values) return condition;
  const step = STEP * widthOf(attribute) * direction;
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf(condition);
  const middle =
    Number.isFinite(coreLow) && Number.isFinite(coreHigh) ? (coreLow + coreHigh) / 2 : null;
  const [newCoreLow, newSupportLow] = moved(
    coreLow,
    supportLow,
    -step,
    middle ?? Infinity,
    Math.min,
  );
  const [newCoreHigh, newSupportHigh] = moved(
    coreHigh,
    supportHigh,
    step,
    middle ?? -Infinity,
    Math.max,
  );
  return {
    ...condition,
    trapezoid: [newSupportLow, newCoreLow, newCoreHigh, newSupportHigh].map(closed),
  };
}

/** One side moved; the core stops at the limit and the support at the core. */
function moved(core, support, by, limit, nearer) {
  if (!Number.isFinite(core)) return [core, support];
  const newCore = nearer(core + by, limit);
  if (core === support) return [newCore, newCore];
  // A strict bound moves as one: its core is the number next to it.
  if (isStrict(core, support)) return neighbouring(support + (newCore - core), core < support);
  return [newCore, nearer(support + by, newCore)];
}

/** The core just below (or above) a strict bound, and the bound. */
function neighbouring(bound, below) {
  const next = new Float64Array([bound]);
  const bits = new BigInt64Array(next.buffer);
  if (bound === 0) return [below ? -Number.MIN_VALUE : Number.MIN_VALUE, bound];
  bits[0] += bound > 0 === below ? -1n : 1n;
  return [next[0], bound];
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
 * The JSON of an edited model, as the library loads it. What the learner proved or counted holds no
 * longer: the proof goes, and so do the statistics unless all training rows are here to count again.
 *
 * @param {object} store
 * @returns {object}
 */
export function exported(store) {
  const { state, facts, original } = store;
  if (!store.isEdited) return state.model;
  const { selection, ...about } = state.model.about;
  const numbers = new Set(state.entries.map((entry) => entry.number));
  const before = new Map(original.entries.map((entry) => [entry.number, entry.rule]));
  const edited = {
    removed: original.entries.filter((entry) => !numbers.has(entry.number)).length,
    changed: state.entries.filter(
      ({ number, rule }) => before.has(number) && before.get(number) !== rule,
    ).length,
    added: state.entries.filter((entry) => !before.has(entry.number)).length,
  };
  const counts = facts.overview.is_training && !facts.data.sampled;
  const rules = state.entries.map(({ rule, known, cover }) => {
    const { statistics, ...rest } = rule;
    if (!counts) return rest;
    const { support, precision, lift } = known;
    return { ...rest, statistics: { support, precision, lift, alone: alone(state, cover) } };
  });
  return { ...state.model, rules, about: { ...about, edited } };
}

/**
 * How many embedded rows a rule alone covers.
 *
 * @param {object} state
 * @param {Uint8Array} cover
 * @returns {number}
 */
export function alone(state, cover) {
  let count = 0;
  for (let i = 0; i < cover.length; i += 1) if (cover[i] && state.counts[i] === 1) count += 1;
  return count;
}

function closed(bound) {
  return Number.isFinite(bound) ? bound : null;
}

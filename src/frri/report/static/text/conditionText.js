/**
 * Where a condition holds fully and where not at all, in words that a person reads. Ends that no value can
 * reach are not spoken of, and ordered categories are named one by one.
 */

import { boundsOf, isStrict, rangeOf, shareText, show } from "../core/format.js";

/**
 * The places where a numeric condition changes, side by side: null for a side that is open.
 *
 * @typedef {object} Side
 * @property {string} core      where it begins to hold fully, or the bound itself if it is strict
 * @property {boolean} strict   whether the bound itself is outside
 * @property {?string} end      from where on it does not hold at all; null without slope, or if no value
 *                              gets there
 * @property {?number} rest     the degree at the end of the range, where that is on the slope
 * @property {string} last      the end of the range
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip whether values stay within the range
 * @returns {[?Side, ?Side]} below and above
 */
export function sidesOf(condition, attribute, clip) {
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf(condition);
  const [low, high] = rangeOf(attribute);
  const side = (core, support, limit, beyond) => {
    if (!Number.isFinite(core)) return null;
    const strict = isStrict(core, support);
    const hasSlope = core !== support && !strict;
    const reached = !clip || !beyond(support, limit);
    return {
      core: show(attribute, strict ? support : core),
      strict,
      end: hasSlope && reached ? show(attribute, support) : null,
      rest: hasSlope && !reached ? Math.min((limit - support) / (core - support), 1) : null,
      last: show(attribute, limit),
    };
  };
  return [
    side(coreLow, supportLow, low, (end, limit) => end < limit),
    side(coreHigh, supportHigh, high, (end, limit) => end > limit),
  ];
}

/**
 * Where a condition ends, as an aside: "not at all below 12.7". Empty for one without slopes.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip
 * @returns {string}
 */
export function endsText(condition, attribute, clip) {
  if (condition.values) return "";
  if (attribute.categories) return partlyText(condition, attribute);
  const [low, high] = sidesOf(condition, attribute, clip);
  const nowhere = [
    low && low.end !== null && `below ${low.end}`,
    high && high.end !== null && `above ${high.end}`,
  ].filter(Boolean);
  const rests = [
    low && low.rest !== null && low.rest < 1 && `still ${shareText(low.rest)} at ${low.last}`,
    high && high.rest !== null && high.rest < 1 && `still ${shareText(high.rest)} at ${high.last}`,
  ].filter(Boolean);
  return [...(nowhere.length ? [`not at all ${nowhere.join(" or ")}`] : []), ...rests].join(", ");
}

/**
 * The same with where it holds fully: "fully from 13.9, not at all below 12.7".
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {boolean} clip
 * @returns {string}
 */
export function conditionText(condition, attribute, clip) {
  if (condition.values) {
    const listed = [...condition.values].sort().join(", ");
    return condition.excludes ? `not at all for ${listed}, else fully` : `fully for ${listed}, else not at all`;
  }
  if (attribute.categories) {
    const full = membersOf(condition, attribute).filter(([, degree]) => degree >= 1);
    const partly = partlyText(condition, attribute);
    const whole = full.length ? `fully for ${full.map(([name]) => name).join(", ")}` : "fully nowhere";
    return `${whole}${partly ? `, ${partly}` : ""}, else not at all`;
  }
  const [low, high] = sidesOf(condition, attribute, clip);
  const [, coreLow, coreHigh] = boundsOf(condition);
  const ends = endsText(condition, attribute, clip);
  const crisp = ends ? "" : ", else not at all";
  let whole = "anywhere";
  if (low && high && coreLow === coreHigh) whole = `at ${low.core}`;
  else if (low && high)
    whole = `${low.strict ? "above" : "from"} ${low.core} ${high.strict ? "to below" : "to"} ${high.core}`;
  else if (low) whole = `${low.strict ? "above" : "from"} ${low.core}`;
  else if (high) whole = `${high.strict ? "below" : "up to"} ${high.core}`;
  return `fully ${whole}${ends ? `, ${ends}` : low || high ? crisp : ""}`;
}

/** Categories that a condition holds for to a degree below 1, with the degree. */
function partlyText(condition, attribute) {
  return membersOf(condition, attribute)
    .filter(([, degree]) => degree < 1)
    .map(([name, degree]) => `${shareText(degree)} for ${name}`)
    .join(", ");
}

/**
 * The ordered categories that a condition holds for at all, each with its degree.
 *
 * @param {object} condition
 * @param {object} attribute
 * @returns {Array<[string, number]>}
 */
export function membersOf(condition, attribute) {
  const [a, b, c, d] = boundsOf(condition);
  const degree = (x) => {
    if (x < b) return Math.max((x - a) / (b - a), 0);
    return x > c ? Math.max((d - x) / (d - c), 0) : 1;
  };
  return attribute.categories
    .map((name, x) => [name, degree(x)])
    .filter(([, value]) => value > 0);
}

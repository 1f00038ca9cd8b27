/**
 * What would be decided at every value of one attribute, all others being as they are; of numbers, whether they reach
 * a target.
 *
 * Between two neighbouring places where some membership bends, what a rule counts (and how near it is where
 * none holds) is a straight line in the attribute. So where one rule decides, or where votes are added up
 * one class, or where the same rules speak for and against each ordered class, this is so on an interval: its
 * end is found by halving, down to neighbouring numbers, and nothing between can be missed. A number, be it a sum or
 * a mean, only rises or only falls between two bends. Where conditions are joined in another way, the same is tried and
 * called a search.
 */

import { encode, fit, prepare, settle } from "../core/evaluator.js";
import { boundsOf, rangeOf, within } from "../core/format.js";

const STRAIGHT_NORMS = new Set(["minimum", "product", "lukasiewicz", "drastic", "nilpotent_minimum"]);
/** More pieces than this on one attribute nobody can see. */
const MOST_PIECES = 400;

/**
 * @param {object} model
 * @returns {boolean} whether strips are exact
 */
export function isStraight({ semantics, rules }) {
  if (!STRAIGHT_NORMS.has(semantics.t_norm)) return false;
  // Two slopes on one attribute would cross, or be multiplied to a curve.
  return rules.every((rule) => {
    const sloping = rule.if.filter((condition) => condition.trapezoid).map(({ attribute }) => attribute);
    return new Set(sloping).size === sloping.length;
  });
}

/**
 * A row laid out for questions about its surroundings.
 *
 * @typedef {{side: string, value: number}} Target  "at least" or "at most" a number
 *
 * @param {object} model
 * @param {Array} values as the evaluator takes them
 * @param {?Target} [target] of numbers: decided is 1 where it is reached, else 0
 * @returns {object}
 */
export function caseOf(model, values, target = null) {
  const ready = prepare(model);
  const base = encode(ready, values);
  const fits = ready.rules.map((rule) =>
    rule.conditions.map((condition) => fit(ready, rule, condition, base[condition.column])),
  );
  return { model, ready, values, base, fits, target };
}

/**
 * @param {Target} target
 * @param {any} answer a number
 * @returns {boolean}
 */
export function reaches({ side, value }, answer) {
  return side === "at least" ? answer >= value : answer <= value;
}

/**
 * Values of an attribute at which something may change, in order: bounds of conditions, and all categories.
 *
 * @param {object} one what caseOf returned
 * @param {number} j which attribute
 * @returns {number[]} encoded
 */
export function placesOf(one, j) {
  const { categories } = one.model.attributes[j];
  if (categories) return [...categories.keys()];
  const [low, high] = axisOf(one, j);
  const inside = conditionBounds(one.model, j).filter((bound) => bound > low && bound < high);
  return [...new Set([low, ...inside, high])].sort((a, b) => a - b);
}

/** All bounds of the conditions on an attribute. */
function conditionBounds({ attributes, rules }, j) {
  const conditions = rules.flatMap((rule) => rule.if.filter(({ attribute }) => attribute === attributes[j].name));
  return conditions.flatMap(boundsOf).filter(Number.isFinite);
}

/**
 * The values of an attribute in order, in pieces that are decided alike; both ends belong to a piece.
 * Nominal attributes have a piece for every category, ordered ones for every step.
 *
 * @param {object} one what caseOf returned
 * @param {number} j which attribute
 * @returns {Array<{from: number, to: number, decided: number, rule: ?number}>} encoded values, the class,
 *   and the rule that decides at its beginning, from 1
 */
export function classStrip(one, j) {
  const attribute = one.model.attributes[j];
  const judge = judgeAlong(one, j);
  if (attribute.categories)
    return attribute.categories.map((_, x) => ({ from: x, to: x, ...verdict(judge.at(x)) }));
  const [low, high] = axisOf(one, j);
  const places = judge.bends(low, high);
  const pieces = [];
  const add = (from, to, found) => {
    const last = pieces[pieces.length - 1];
    if (last && last.decided === found.decided) last.to = to;
    else pieces.push({ from, to, ...verdict(found) });
  };
  places.forEach((place, k) => {
    add(place, place, judge.at(place));
    if (k + 1 < places.length) between(place, places[k + 1]);
  });
  return pieces;

  /** The open interval between two bends: one unit after the other, each as far as it goes. */
  function between(left, right) {
    let from = next(left, 1);
    const to = next(right, -1);
    if (from > to) return;
    const last = judge.at(to);
    while (from <= to && pieces.length < MOST_PIECES) {
      const found = judge.at(from);
      if (found.unit === last.unit) {
        add(from, to, found);
        return;
      }
      const end = lastOf(from, to, found.unit);
      add(from, end, found);
      from = next(end, 1);
    }
  }

  /** The last value of a unit that holds at one end of an interval and not at the other. */
  function lastOf(from, to, unit) {
    let [own, other] = [from, to];
    for (;;) {
      const middle = own + (other - own) / 2;
      if (!(middle > own && middle < other)) return own;
      if (judge.at(middle).unit === unit) own = middle;
      else other = middle;
    }
  }
}

function verdict({ decided, rule }) {
  return { decided, rule };
}

/** Where an attribute may move: its range in training, widened to the value that it has. */
function axisOf(one, j) {
  const attribute = one.model.attributes[j];
  let [low, high] = rangeOf(attribute);
  if (attribute.categories) return [low, high];
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    // Without a known range: a little beyond the outermost bounds of the conditions.
    const bounds = conditionBounds(one.model, j);
    if (!Number.isFinite(low)) low = bounds.reduce((a, b) => Math.min(a, b), Infinity) - 1;
    if (!Number.isFinite(high)) high = bounds.reduce((a, b) => Math.max(a, b), -Infinity) + 1;
    if (!bounds.length) [low, high] = [-1, 1].map((by) => (Number(one.values[j]) || 0) + by);
  }
  const own = one.values[j];
  if (typeof own === "number" && Number.isFinite(own)) return [Math.min(low, own), Math.max(high, own)];
  return [low, Math.max(low, high)];
}

/**
 * Decisions along one attribute, by those rules alone that can matter: the others neither fire anywhere on
 * it nor are ever nearest.
 */
function judgeAlong(one, j) {
  const { ready, base, fits } = one;
  const levels = ready.rules.map((rule, r) => levelsOf(ready, rule, fits[r], j));
  const hasBounds = ready.name === "at-least-class";
  const canFire = levels.flatMap(({ level }, r) => (level > 0 || hasBounds ? [r] : []));
  const loud = part(canFire);
  const silent = part(nearRules(ready, levels));
  const bySums = ready.name === "added-votes" || ready.base.length > 0;
  const at = (x) => {
    let found = loud.settle(x);
    const isSilent = found.silent;
    if (isSilent) found = silent.settle(x);
    if (hasBounds) return { ...found, unit: `${speakersAt(x)} ${found.decided}` };
    const unit = isSilent || !bySums ? `${isSilent} ${found.rule} ${found.decided}` : found.decided;
    return { ...found, unit };
  };
  return { at, bends };

  function part(chosen) {
    const rules = chosen.map((r) => ready.rules[r]);
    const some = { ...ready, rules };
    const held = new Float64Array(chosen.length);
    const moving = [];
    chosen.forEach((r, k) => {
      const { level, varies } = levels[r];
      held[k] = level;
      if (varies) moving.push([k, r]);
    });
    const values = base.slice();
    const { clipLow, clipHigh } = ready.attributes[j];
    return {
      chosen,
      settle(x) {
        values[j] = within(x, clipLow, clipHigh);
        for (const [k, r] of moving) held[k] = degreeAt(ready.rules[r], fits[r], values[j]);
        const { decided: position, rule, silent: none, scores } = settle(some, values, held);
        const decided = one.target ? Number(reaches(one.target, scores[0])) : position;
        return { decided, rule: rule === null ? null : chosen[rule - 1] + 1, silent: none };
      },
    };
  }

  /** Which rules speak loudest for and against each ordered class; where none does, which are nearest. */
  function speakersAt(x) {
    const value = within(x, ready.attributes[j].clipLow, ready.attributes[j].clipHigh);
    const counts = ready.rules.map((rule, r) => rule.weight * (levels[r].varies ? degreeAt(rule, fits[r], value) : levels[r].level));
    const names = speakers(ready, counts, 0);
    if (ready.fallback !== "nearest" || names.every((name) => name !== "")) return names.join();
    const near = ready.rules.map((rule, r) => (rule.weight > 0 ? rule.weight * nearAt(rule, levels[r], value) : -Infinity));
    return `${names.join()} ${speakers(ready, near, -Infinity).join()}`;
  }

  function nearAt(rule, { near }, x) {
    return rule.conditions.reduce(
      (least, condition) => (condition.column === j ? Math.min(least, fit(ready, rule, condition, x)) : least),
      near,
    );
  }

  function degreeAt(rule, own, x) {
    let degree = 1;
    rule.conditions.forEach((condition, k) => {
      const value = Math.max(condition.column === j ? fit(ready, rule, condition, x) : own[k], 0);
      degree = k ? ready.join(degree, value) : value;
    });
    return degree;
  }

  /** Where memberships bend or jump, and where they pass what the rest of the rule allows. */
  function bends(low, high) {
    const found = new Set([low, high]);
    const add = (x) => {
      if (x > low && x < high) found.add(x);
    };
    const own = one.values[j];
    if (typeof own === "number") add(own);
    for (const r of new Set([...loud.chosen, ...silent.chosen])) {
      const { level, near, varies } = levels[r];
      if (!varies) continue;
      for (const condition of ready.rules[r].conditions) {
        if (condition.column !== j || condition.allowed !== null) continue;
        const { supportLow, coreLow, coreHigh, supportHigh } = condition;
        [supportLow, coreLow, coreHigh, supportHigh].forEach(add);
        for (const height of [level, 1 - level, near, 0]) {
          if (!Number.isFinite(height)) continue;
          add(supportLow + height * condition.slopeLow);
          add(supportHigh - height * condition.slopeHigh);
        }
      }
    }
    return [...found].sort((a, b) => a - b);
  }
}

/** What a rule's other conditions allow: the degree, and the worst fit, that it can reach at most. */
function levelsOf(ready, rule, own, j) {
  let [level, near, varies] = [1, 1, false];
  rule.conditions.forEach((condition, k) => {
    if (condition.column === j) {
      varies = true;
      return;
    }
    level = ready.join(level, Math.max(own[k], 0));
    near = Math.min(near, own[k]);
  });
  return { level, near, varies };
}

/** For each step between ordered classes the loudest rule for it and the loudest against it; empty without both. */
function speakers(ready, counts, nothing) {
  return ready.classes.slice(1).map((_, k) => {
    const [pro, contra] = [-1, -1].map((none, way) =>
      ready.rules.reduce((best, rule, r) => {
        const speaks = way ? !rule.rising && rule.class <= k : rule.rising && rule.class > k;
        return speaks && counts[r] > (best < 0 ? nothing : counts[best]) ? r : best;
      }, none),
    );
    return pro < 0 && contra < 0 ? "" : `${pro}/${contra}`;
  });
}

/** Rules that may be the nearest somewhere: a rule that never comes as near as one that stays is not. */
function nearRules(ready, levels) {
  const all = [...ready.rules.keys()];
  if (ready.fallback !== "nearest") return all;
  const most = (r) => ready.rules[r].weight * levels[r].near;
  const stays = all.filter((r) => !levels[r].varies && ready.rules[r].weight > 0);
  const best = stays.reduce((a, r) => Math.max(a, most(r)), -Infinity);
  return all.filter((r) => ready.rules[r].weight > 0 && most(r) >= best);
}

/**
 * The neighbouring number above (1) or below (-1).
 *
 * @param {number} x
 * @param {number} way
 * @returns {number}
 */
export function next(x, way) {
  if (x === 0) return way * Number.MIN_VALUE;
  const cell = new Float64Array([x]);
  const bits = new BigInt64Array(cell.buffer);
  bits[0] += x > 0 === way > 0 ? 1n : -1n;
  return cell[0];
}

/**
 * Rules applied to one row.
 *
 * A model is the JSON of a saved ruleset. The arithmetic is that of the Python library, value by value, so the
 * decisions are the same to the last bit. The page needs it because readers edit rules there; exported modules are
 * printed by frri.export.scripts.
 *
 * @typedef {object} Model     The parsed JSON of a saved ruleset.
 * @typedef {object} Prepared  What prepare(model) returns; every function takes either.
 * @typedef {Array<number|string|null>} Row  A value per attribute: a number, a date in days since 1970-01-01, the name
 *   of a category; null if it is missing.
 */

const preparedModels = new WeakMap();

/**
 * Lay a model out for evaluation. Calling it is optional: the other functions do it once per model.
 * The model must not be changed afterwards.
 *
 * @param {Model|Prepared} model
 * @returns {Prepared}
 */
export function prepare(model) {
  if (model.prepared === true) return model;
  if (!preparedModels.has(model)) preparedModels.set(model, layOut(model));
  return preparedModels.get(model);
}

/**
 * The values of a row as numbers: categories by position (for one never seen -1, or NaN if they are ordered), NaN where
 * missing, moved into the training range where the model wants it.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {number[]}
 */
export function encode(model, row) {
  return prepare(model).attributes.map((attribute, j) => encodeOne(attribute, row[j]));
}

/**
 * To which degree, from 0 to 1, the conditions of each rule hold together.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {number[]} one per rule
 */
export function degrees(model, row) {
  return degreesOf(prepare(model), encode(model, row));
}

/**
 * What the rules say for each class (all 0 where no rule fires), or the number.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {number[]} one per class; a single one in regression
 */
export function scores(model, row) {
  const ready = prepare(model);
  const values = encode(ready, row);
  return scoresOf(ready, values, degreesOf(ready, values));
}

/**
 * The shares that rules or the fallback give to classes, mixed with those in training.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {number[]} one per class, with sum 1
 */
export function probabilities(model, row) {
  const ready = prepare(model);
  const values = encode(ready, row);
  const held = degreesOf(ready, values);
  const { decided, shares } = decide(ready, values, held, scoresOf(ready, values, held));
  let result = divided(shares);
  if (ready.trust < 1 || ordered.has(ready.name)) {
    const sizes = divided(ready.counts);
    result = result.map((share, c) => ready.trust * share + (1 - ready.trust) * sizes[c]);
    // Classes ahead of the one decided for are levelled with it.
    const own = result[decided];
    const ahead = result.filter((share) => share > own).sort((a, b) => b - a);
    const levels = ahead.map((_, k) => (own + sum(ahead.slice(0, k + 1))) / (k + 2));
    const level = largest([own, ...levels]);
    result = result.map((share, c) => (c === decided ? level : Math.min(share, level)));
  }
  const top = largest(result);
  // Rounding may have made the class decided for level with another one.
  if (result.indexOf(top) !== decided) result[decided] = top * (1 + 2 ** -52);
  return result;
}

/**
 * The position of the class decided for and the number of the rule that decided, for a row whose values
 * are encoded and whose degrees are known: whoever asks about many rules or rows keeps both.
 *
 * @param {Model|Prepared} model
 * @param {number[]} values as encode gives them
 * @param {ArrayLike<number>} held the degree of each rule, as degrees gives them
 * @returns {{decided: number, rule: (number|null), silent: boolean, scores: number[]}} the rule as in explain,
 *   whether none fires, and what scores gives; numbers have no class
 */
export function settle(model, values, held) {
  const ready = prepare(model);
  const found = scoresOf(ready, values, held);
  if (!ready.classes.length) {
    const nearest = nearestRule(ready, values, held);
    const silent = ready.name === "weighted-mean" && !(largest(countedBy(ready, held)) > 0);
    return { decided: 0, rule: nearest === null ? null : nearest + 1, silent, scores: found };
  }
  const { decided, rule } = decide(ready, values, held, found);
  return { decided, rule, silent: isSilent(ready, found), scores: found };
}

/**
 * How well a value fits a condition: 1 where it holds fully, falling along its slopes, below 0 outside.
 *
 * @param {Prepared} ready
 * @param {object} rule of it
 * @param {object} condition of the rule
 * @param {number} x the encoded value
 * @returns {number}
 */
export function fit(ready, rule, condition, x) {
  if (Number.isNaN(x)) return ready.missingHolds ? 1 : rule.outside;
  if (condition.allowed !== null) return condition.allowed.has(x) ? 1 : rule.outside;
  if (x < condition.coreLow) return (x - condition.supportLow) / condition.slopeLow;
  if (x > condition.coreHigh) return (condition.supportHigh - x) / condition.slopeHigh;
  return 1;
}

/**
 * The label of the class decided for, or the number.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {string|number|boolean}
 */
export function predict(model, row) {
  return explain(model, row).prediction;
}

/**
 * The prediction, the rule that decided (numbered from 1), the score of its class, and what fired.
 * Where no rule fires the score is 0, and the rule is the one that the fallback went by, if any.
 * Where rules answer together, no single one decides; a number is its own score.
 *
 * @param {Model|Prepared} model
 * @param {Row} row
 * @returns {{prediction: (string|number|boolean), rule: (number|null), score: number, fired: number[]}}
 */
export function explain(model, row) {
  const ready = prepare(model);
  const values = encode(ready, row);
  const held = degreesOf(ready, values);
  const fired = held.flatMap((degree, r) => (degree > 0 ? [r + 1] : []));
  const found = scoresOf(ready, values, held);
  if (!ready.classes.length) {
    const nearest = nearestRule(ready, values, held);
    const rule = nearest === null ? null : nearest + 1;
    return { prediction: found[0], rule, score: found[0], fired };
  }
  const { decided, rule } = decide(ready, values, held, found);
  const score = isSilent(ready, found) ? 0 : found[decided];
  return { prediction: ready.classes[decided], rule, score, fired };
}

// ------------------------------------------------------------------ laying out

const classRules = new Set(["best-rule", "added-votes", "first-match"]);
const ordered = new Set(["at-least-class", "cumulative-logits"]);
const saidNumbers = new Set(["weighted-mean", "added-contributions", "cumulative-logits"]);

function layOut(model) {
  const meaning = model.semantics;
  const attributes = model.attributes.map((attribute) => layOutAttribute(attribute, meaning));
  const columns = new Map(model.attributes.map(({ name }, j) => [name, j]));
  return {
    prepared: true,
    classes: model.classes,
    attributes,
    name: meaning.name,
    fallback: meaning.fallback,
    missingHolds: meaning.missing === "similar",
    join: tNorms[meaning.t_norm],
    base: model.base ?? [],
    counts: model.class_counts.map((count, c) => count * (model.costs?.[c] ?? 1)),
    // In softmax-votes the base contains the costs.
    costs: model.classes.map((_, c) => (classRules.has(meaning.name) && model.costs?.[c]) || 1),
    trust: model.trust ?? 1,
    rules: model.rules.map((rule) => ({
      weight: rule.weight,
      class: model.classes.indexOf(rule.then),
      says: layOutSaid(model, meaning.name, rule),
      rising: rule.relation === "at least",
      partial: (rule.if.length && rule.partial_weights) || [],
      outside: rule.weight > 0 ? Math.min(1 - 1 / rule.weight, 0) : 0,
      conditions: rule.if.map((condition) => {
        const column = columns.get(condition.attribute);
        return layOutCondition(condition, column, attributes[column]);
      }),
    })),
  };
}

/** Votes or shares of all classes, all for its own by default; or the number. */
function layOutSaid(model, name, rule) {
  if (saidNumbers.has(name)) return [rule.then];
  const given = name === "softmax-votes" ? rule.votes : rule.distribution;
  const own = model.classes.indexOf(rule.then);
  return given ?? model.classes.map((_, c) => (c === own ? 1 : 0));
}

function layOutAttribute(attribute, { clip, missing }) {
  let low = attribute.low ?? -Infinity;
  let high = attribute.high ?? Infinity;
  if (attribute.kind === "ordinal" && attribute.categories.length) {
    low = 0;
    high = attribute.categories.length - 1;
  }
  const width = high - low;
  const ready = {
    kind: attribute.kind,
    codes: attribute.categories ? new Map(attribute.categories.map((name, i) => [name, i])) : null,
    clipLow: clip ? low : -Infinity,
    clipHigh: clip ? high : Infinity,
    width: width > 0 && width < Infinity ? width : 1,
    typical: NaN,
  };
  if (missing === "typical") ready.typical = encodeOne(ready, attribute.typical);
  return ready;
}

function layOutCondition(condition, column, attribute) {
  if (condition.values) {
    const listed = new Set(condition.values.map((value) => attribute.codes.get(value)));
    // An exclusion also allows categories never seen.
    const others = [-1, ...attribute.codes.values()].filter((place) => !listed.has(place));
    return { column, allowed: condition.excludes ? new Set(others) : listed };
  }
  const [supportLow, coreLow] = condition.trapezoid.slice(0, 2).map((bound) => bound ?? -Infinity);
  const [coreHigh, supportHigh] = condition.trapezoid.slice(2).map((bound) => bound ?? Infinity);
  return {
    column,
    allowed: null,
    supportLow,
    coreLow,
    coreHigh,
    supportHigh,
    slopeLow: slope(coreLow, supportLow, attribute.width),
    slopeHigh: slope(coreHigh, supportHigh, attribute.width),
  };
}

/** What to divide by: the slope's width, for a side without slope the attribute's range. */
function slope(core, support, width) {
  if (!Number.isFinite(core) || !Number.isFinite(support)) return width;
  const middle = core + (support - core) / 2;
  return middle === core || middle === support ? width : Math.abs(core - support);
}

function encodeOne({ kind, codes, typical, clipLow, clipHigh }, value) {
  const number = codes && value !== null ? (codes.get(value) ?? (kind === "ordinal" ? NaN : -1)) : value;
  if (number === null || number === undefined || Number.isNaN(number)) return typical;
  return Math.min(Math.max(number, clipLow), clipHigh);
}

// ------------------------------------------------------------------ matching

/** How well the values fit each condition of a rule; a rule without conditions holds. */
function uncut(ready, rule, values) {
  if (!rule.conditions.length) return [1];
  return rule.conditions.map((condition) => fit(ready, rule, condition, values[condition.column]));
}

function memberships(ready, rule, values) {
  return uncut(ready, rule, values).map((value) => Math.max(value, 0));
}

function degreesOf(ready, values) {
  return ready.rules.map((rule) => memberships(ready, rule, values).reduce(ready.join));
}

const tNorms = {
  minimum: (a, b) => Math.min(a, b),
  product: (a, b) => a * b,
  lukasiewicz: (a, b) => Math.max(Math.min(a, b) - (1 - Math.max(a, b)), 0),
  hamacher: (a, b) => {
    const smaller = Math.min(a, b);
    const larger = Math.max(a, b);
    return larger > 0 ? smaller * (larger / (larger + smaller * (1 - larger))) : 0;
  },
  drastic: (a, b) => (Math.max(a, b) === 1 ? Math.min(a, b) : 0),
  nilpotent_minimum: (a, b) => (Math.min(a, b) > 1 - Math.max(a, b) ? Math.min(a, b) : 0),
};

// ------------------------------------------------------------------ combining

/** Above one half exactly where the odds are below 0: the sign decides, not the last bit of exp. */
function logistic(odds) {
  const share = 1 / (1 + Math.exp(odds));
  return odds < 0 ? Math.max(share, 0.5 + 2 ** -53) : Math.min(share, 0.5);
}

/** What each rule counts: its weight times its degree. */
function countedBy(ready, held) {
  return ready.rules.map((rule, r) => rule.weight * held[r]);
}

function scoresOf(ready, values, held) {
  const counted = countedBy(ready, held);
  const said = (c) => counted.map((count, r) => count * ready.rules[r].says[c]);
  if (ready.name === "at-least-class") return atLeast(ready, values, counted);
  if (ready.name === "cumulative-logits") {
    const total = sum(said(0));
    const odds = ready.base.map((base) => Math.min(-(total + base), 700));
    return [1, ...odds.map(logistic)];
  }
  if (ready.name === "weighted-mean") {
    const total = sum(counted);
    if (total > 0) return [sum(said(0)) / total];
    const nearest = nearestRule(ready, values, held);
    return [...(nearest === null ? ready.base : ready.rules[nearest].says)];
  }
  if (ready.base.length) return ready.base.map((base, c) => sum([base, ...said(c)]));
  const perClass = ready.classes.map(() => 0);
  for (const [r, rule] of ready.rules.entries()) {
    if (ready.name === "best-rule") {
      perClass[rule.class] = Math.max(perClass[rule.class], counted[r]);
    } else if (ready.name === "added-votes") {
      perClass[rule.class] += counted[r];
    } else if (held[r] > 0) {
      return rule.says.map((said, c) => said * ready.costs[c]);
    }
  }
  return perClass.map((score, c) => score * ready.costs[c]);
}

/** How much of what speaks about "at least this class" speaks for it. */
function atLeast(ready, values, counted) {
  const n = ready.classes.length;
  const { pro, contra } = sides(ready, counted, 0);
  const lowest = pro.slice(1).filter((value) => value > 0).length;
  const highest = n - 1 - contra.filter((value) => value > 0).length;
  let before = [0];
  for (const count of ready.counts) before.push(before[before.length - 1] + count);
  if (!(before[Math.max(lowest, highest) + 1] - before[lowest] > 0)) before = [...before.keys()];
  const votes = fallbackVotes(ready, values) ?? ready.rules.map(() => -Infinity);
  const { pro: near, contra: opposed } = sides(ready, votes, -Infinity);
  // About what no rule speaks, the nearest rules do, or the shares of the classes that are left.
  for (let t = lowest + 1; t <= highest; t += 1) {
    if (Math.max(near[t], opposed[t]) > -Infinity) {
      pro[t] = Math.max(-opposed[t], 0);
      contra[t] = Math.max(-near[t], 0);
    } else {
      pro[t] = before[highest + 1] - before[t];
      contra[t] = before[t] - before[lowest];
    }
  }
  return pro.map((value, t) => {
    if (t === 0) return 1;
    return value > 0 ? 1 / (1 + contra[t] / value) : 0;
  });
}

/** The largest vote for "at least" each class, and the largest against it. */
function sides(ready, votes, nothing) {
  const pro = ready.classes.map(() => nothing);
  const contra = ready.classes.map(() => nothing);
  for (const [r, rule] of ready.rules.entries()) {
    for (let t = 0; t < ready.classes.length; t += 1) {
      if (rule.rising && rule.class >= t) pro[t] = Math.max(pro[t], votes[r]);
      if (!rule.rising && rule.class < t) contra[t] = Math.max(contra[t], votes[r]);
    }
  }
  return { pro, contra };
}

/** The position of the class, the number of the rule that decided, and what becomes probabilities. */
function decide(ready, values, held, found) {
  if (ordered.has(ready.name)) {
    const decided = found.slice(1).filter((score) => score > 0.5).length;
    const shares = found.map((score, c) => score - (c + 1 < found.length ? found[c + 1] : 0));
    return { decided, rule: null, shares };
  }
  const top = largest(found);
  let decided = found.indexOf(top);
  if (ready.name === "softmax-votes") return { decided, rule: null, shares: exponentials(found) };
  if (top > 0) {
    const first = ready.name === "first-match";
    const rule = first
      ? held.findIndex((degree) => degree > 0) + 1
      : strongest(ready, decided, countedBy(ready, held));
    return { decided, rule, shares: found };
  }
  const votes = fallbackVotes(ready, values);
  if (votes === null) {
    return { decided: ready.counts.indexOf(largest(ready.counts)), rule: null, shares: ready.counts };
  }
  const near = ready.fallback === "nearest";
  const best = bestPerClass(ready, votes).map((value, c) => (near ? value : value * ready.costs[c]));
  decided = best.indexOf(largest(best));
  const shares = near ? exponentials(best) : best;
  return { decided, rule: strongest(ready, decided, votes), shares };
}

/** Whether no rule that says anything fires, so that the fallback decides. */
function isSilent(ready, found) {
  return classRules.has(ready.name) && !(largest(found) > 0);
}

function divided(amounts) {
  const total = sum(amounts);
  return amounts.map((amount) => amount / total);
}

/** Shares of values that may be negative, 1 for the largest, though it be infinite. */
function exponentials(numbers) {
  const top = largest(numbers);
  return numbers.map((number) => (number === top ? 1 : Math.exp(number - top)));
}

/** The position of the rule that a number comes from where none fires. */
function nearestRule(ready, values, held) {
  if (largest(countedBy(ready, held)) > 0 || ready.fallback !== "nearest") return null;
  const votes = fallbackVotes(ready, values);
  return votes === null ? null : votes.indexOf(largest(votes));
}

/** What each rule counts where none fires; null where the shares in training decide. */
function fallbackVotes(ready, values) {
  const unasked = ready.fallback === "priors" || ready.fallback === "base";
  if (unasked || !ready.rules.length) return null;
  if (ready.fallback === "nearest") {
    const near = ready.rules.map((rule) => nearness(ready, rule, values));
    return ready.rules.some((rule) => rule.weight > 0) ? near : null;
  }
  const part = ready.fallback === "stretched" ? stretched : satisfied;
  const votes = ready.rules.map((rule) => part(ready, rule, memberships(ready, rule, values)));
  return largest(votes) > 0 ? votes : null;
}

/** Weight times the worst uncut value; a rule without weight is never near. */
function nearness(ready, rule, values) {
  return rule.weight > 0 ? rule.weight * smallest(uncut(ready, rule, values)) : -Infinity;
}

/** Degree of the longest beginning of a rule that holds, times that beginning's weight. */
function stretched(ready, rule, held) {
  const failing = held.findIndex((membership) => !(membership > 0));
  const kept = failing < 0 ? held.length : failing;
  if (kept === 0 || kept >= rule.partial.length) return 0;
  return held.slice(0, kept).reduce(ready.join) * rule.partial[kept];
}

/** Weight of the subset of conditions that hold; 0 where none does. */
function satisfied(ready, rule, held) {
  const subset = held.reduce((bits, membership, k) => bits + (membership > 0 ? 2 ** k : 0), 0);
  return subset > 0 && subset < rule.partial.length ? rule.partial[subset] : 0;
}

/** The best vote of each class; one without rules is out of the question. */
function bestPerClass(ready, votes) {
  const best = ready.classes.map(() => (ready.fallback === "nearest" ? -Infinity : 0));
  for (const [r, rule] of ready.rules.entries()) {
    best[rule.class] = Math.max(best[rule.class], votes[r]);
  }
  return best;
}

function strongest(ready, decided, votes) {
  let found = null;
  for (const [r, rule] of ready.rules.entries()) {
    if (rule.class === decided && (found === null || votes[r] > votes[found])) found = r;
  }
  return found === null ? null : found + 1;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function largest(numbers) {
  return numbers.reduce((best, number) => Math.max(best, number), -Infinity);
}

function smallest(numbers) {
  return numbers.reduce((best, number) => Math.min(best, number), Infinity);
}

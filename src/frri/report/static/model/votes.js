/** Rules that vote: what the base and each rule add to the lead of a class over the next one. */

/**
 * @param {object} model
 * @returns {boolean} whether its rules add votes to a base
 */
export function addsVotes(model) {
  return model.semantics.name === "softmax-votes";
}

/**
 * Where the lead of the class decided for comes from.
 *
 * @param {object} model whose rules vote
 * @param {number[]} held degrees of the rules
 * @param {number[]} found scores of the classes
 * @param {*} prediction the class decided for
 * @returns {{second: *, lead: number, base: number, added: number[]}} the next class (undefined if
 *   there is none), by how much it is behind, and what the base and each rule have to do with it
 */
export function leadOf(model, held, found, prediction) {
  const own = model.classes.indexOf(prediction);
  const others = found.map((score, c) => (c === own ? -Infinity : score));
  const next = others.length > 1 ? others.indexOf(Math.max(...others)) : -1;
  const over = (numbers) => numbers[own] - (next < 0 ? 0 : numbers[next]);
  return {
    second: model.classes[next],
    lead: over(found),
    base: over(model.base),
    added: model.rules.map((rule, r) => rule.weight * held[r] * over(votesOf(model, rule))),
  };
}

/**
 * What a full match says about each class, before its weight.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {number[]}
 */
export function votesOf(model, rule) {
  return rule.votes ?? model.classes.map((label) => (label === rule.then ? 1 : 0));
}

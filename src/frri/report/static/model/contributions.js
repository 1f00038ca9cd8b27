/**
 * The rule behind an answer: the one that decides, or where rules answer together the one that carries it, with
 * the largest part in it.
 */

import { addsNumbers, predictsNumbers } from "./regression.js";
import { isOrdered, movesAnswer } from "./ordinal.js";
import { addsVotes, votesOf } from "./votes.js";

const DECIDING = {
  title: "Decides",
  verb: "decides",
  past: "decided",
  nobody: "no rule",
  otherwise: "covers these rows",
  heading: "What decides",
  idle: "It decides nothing: wherever it holds, another rule counts more.",
  help: "Rows that it decides, of all that it covers",
  meaning: "",
  isAlone: true,
};

const CARRYING = {
  ...DECIDING,
  title: "Carries",
  verb: "carries",
  past: "carried",
  heading: "What carries the answers",
  isAlone: false,
  idle: "It carries nothing: wherever it holds, another rule has a larger part in the answer.",
};

/**
 * How the part of a rule in an answer is called.
 *
 * @param {object} model
 * @returns {{title: string, verb: string, past: string, nobody: string, heading: string, idle: string,
 *   help: string, meaning: string, isAlone: boolean, otherwise: string}} `nobody` is called what answers where no
 *   rule does, and `otherwise` says what that is
 */
export function roleOf(model) {
  const carrying = (meaning, nobody) => ({
    ...CARRYING,
    meaning,
    help: meaning,
    nobody,
    ...(nobody === "the base" && { otherwise: "carries these rows: no rule adds to their answer" }),
  });
  if (addsVotes(model))
    return carrying(
      "A rule carries a row if no other adds more to the lead of the answer over the next class; the base carries those to whose lead no rule adds.",
      "the base",
    );
  if (addsNumbers(model) || movesAnswer(model))
    return carrying("A rule carries a row if no other moves the answer more, up or down.", "the base");
  if (predictsNumbers(model))
    return carrying("A rule carries a row if no other has a larger share in the answer.", "no rule");
  if (isOrdered(model))
    return carrying(
      "A rule carries a row if none counts more of those that keep the answer from being lower or from being higher.",
      "no rule",
    );
  return DECIDING;
}

/**
 * A function that finds the rule that carries an answer.
 *
 * @param {object} model
 * @returns {?function(ArrayLike<number>, number[], number): number} takes degrees, scores and the class decided
 *   for; returns the number of the rule in the model, 0 where none carries it; null where a single rule decides
 */
export function mainRuleIn(model) {
  const { rules } = model;
  if (addsVotes(model)) {
    const says = rules.map((rule) => votesOf(model, rule));
    return (held, scores, decided) => {
      const next = second(scores, decided);
      return first(rules, (rule, r) => {
        const lead = says[r][decided] - (next < 0 ? 0 : says[r][next]);
        return rule.weight * held[r] * lead;
      });
    };
  }
  if (addsNumbers(model) || movesAnswer(model))
    return (held) => first(rules, (rule, r) => Math.abs(rule.weight * held[r] * rule.then));
  if (predictsNumbers(model)) return (held) => first(rules, (rule, r) => rule.weight * held[r]);
  if (isOrdered(model)) {
    const boundingRules = boundingRulesIn(model);
    return (held, _, decided) => {
      const [up, down] = boundingRules(held, decided);
      const count = (number) => (number ? rules[number - 1].weight * held[number - 1] : 0);
      if (count(up) === count(down)) return Math.min(up || down, down || up);
      return count(up) > count(down) ? up : down;
    };
  }
  return null;
}

/**
 * A function that finds the rules that keep an answer where it is, of rules that say "at least" and "at most".
 *
 * @param {object} model
 * @returns {function(ArrayLike<number>, number): [number, number]} takes degrees and the class decided for;
 *   returns the number of the rule that counts most of those that keep it from being lower, and from being higher
 */
export function boundingRulesIn({ classes, rules }) {
  const bounds = rules.map(({ then }) => classes.indexOf(then));
  const last = classes.length - 1;
  return (held, decided) => [
    first(rules, (rule, r) =>
      rule.relation === "at least" && decided > 0 && bounds[r] >= decided ? rule.weight * held[r] : 0,
    ),
    first(rules, (rule, r) =>
      rule.relation === "at most" && decided < last && bounds[r] <= decided ? rule.weight * held[r] : 0,
    ),
  ];
}

/** The number of the first rule with the largest part; 0 where no part is positive. */
function first(rules, part) {
  let [found, most] = [0, 0];
  rules.forEach((rule, r) => {
    const own = part(rule, r);
    if (own > most) [found, most] = [r + 1, own];
  });
  return found;
}

/** The position of the class behind the one decided for; -1 without one. */
function second(scores, decided) {
  let found = -1;
  scores.forEach((score, c) => {
    if (c !== decided && (found < 0 || score > scores[found])) found = c;
  });
  return found;
}

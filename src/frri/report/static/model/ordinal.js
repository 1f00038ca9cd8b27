/** Rules for ordered classes: "at least" and "at most" a class, or a number that moves the answer up or down. */

/**
 * @param {object} model
 * @returns {boolean} whether its classes have an order
 */
export function isOrdered({ semantics }) {
  return semantics.name === "at-least-class" || movesAnswer({ semantics });
}

/**
 * @param {object} model
 * @returns {boolean} whether its rules say numbers that move the answer along the classes
 */
export function movesAnswer({ semantics }) {
  return semantics.name === "cumulative-logits";
}

/**
 * The classes that a rule speaks for.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {function(number): ?boolean} takes the position of a class; null where a rule names none
 */
export function speaksFor(model, rule) {
  const own = model.classes.indexOf(rule.then);
  if (own < 0) return () => null;
  if (rule.relation === "at least") return (c) => c >= own;
  if (rule.relation === "at most") return (c) => c <= own;
  return (c) => c === own;
}

/**
 * The class in whose colour a rule is drawn: its own, or the end of the order that it moves towards.
 *
 * @param {object} model
 * @param {object} rule
 * @returns {number} its position
 */
export function shownClass(model, rule) {
  if (!movesAnswer(model)) return model.classes.indexOf(rule.then);
  return rule.then * rule.weight < 0 ? 0 : model.classes.length - 1;
}

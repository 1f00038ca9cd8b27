/** Which attributes matter most: the same order in every view. */

/**
 * Positions of all attributes, by what the accuracy loses without them, then by how many rules use them.
 *
 * @param {object} facts
 * @returns {number[]}
 */
export function ranking({ attributes }) {
  return [...attributes.keys()].sort(
    (a, b) =>
      (attributes[b].importance ?? 0) - (attributes[a].importance ?? 0) ||
      attributes[b].n_rules - attributes[a].n_rules,
  );
}

/**
 * Of those that rules use, positions in the same order.
 *
 * @param {object} facts
 * @returns {number[]}
 */
export function usedByRank(facts) {
  return ranking(facts).filter((j) => facts.attributes[j].n_rules);
}

/**
 * Positions of the attributes that the rules of a model use, edited or not.
 *
 * @param {object} model
 * @returns {number[]}
 */
export function usedColumns({ attributes, rules }) {
  const names = new Set(rules.flatMap((rule) => rule.if.map(({ attribute }) => attribute)));
  return [...attributes.keys()].filter((j) => names.has(attributes[j].name));
}

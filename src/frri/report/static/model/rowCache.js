/**
 * The embedded rows as the evaluator computes with them: encoded once, and the degree to which a rule
 * holds for each row kept for as long as the rule is. So a change of one rule costs one rule's work.
 */

import { encode, fit, prepare, settle } from "../core/evaluator.js";

/** A rule covers a row when weight times degree exceeds this. */
const COVERS = 1e-6;

/**
 * @param {object} model whose attributes and settings are those of all models asked about
 * @param {object} rows
 */
export function createRowCache(model, rows) {
  const kept = new WeakMap();
  const covers = new WeakMap();
  let encoded = null;
  const cache = {
    /** The values of a row, encoded. */
    values: (i) => {
      encoded ??= Array.from({ length: rows.n }, (_, k) => encode(model, rows.at(k)));
      return encoded[i];
    },

    /** How well each row fits a condition of a rule: for each condition 1 where it holds, 0 where it fails. */
    memberships(rule) {
      const ready = prepare({ ...model, rules: [rule] });
      const [own] = ready.rules;
      return own.conditions.map((condition) =>
        Float64Array.from({ length: rows.n }, (_, i) =>
          Math.max(fit(ready, own, condition, cache.values(i)[condition.column]), 0),
        ),
      );
    },

    /** The degree to which a rule holds for each row. */
    degrees(rule) {
      if (!kept.has(rule)) kept.set(rule, degreesOf(rule));
      return kept.get(rule);
    },

    /** Which rows a rule covers. */
    cover(rule) {
      if (!covers.has(rule)) covers.set(rule, Uint8Array.from(cache.degrees(rule), (degree) => (degree * rule.weight > COVERS ? 1 : 0)));
      return covers.get(rule);
    },

    /**
     * A function that decides about a row by the rules of a model: the class's position, the number in the
     * model of the rule that decides (0 where none does), and the number predicted.
     */
    judge(now) {
      const ready = prepare(now);
      const columns = now.rules.map(cache.degrees);
      const held = new Float64Array(columns.length);
      return (i) => {
        for (let r = 0; r < columns.length; r += 1) held[r] = columns[r][i];
        const { decided, rule, silent, scores } = settle(ready, cache.values(i), held);
        return { decided, deciding: silent ? 0 : (rule ?? 0), answer: scores[0] };
      };
    },
  };
  return cache;

  function degreesOf(rule) {
    const ready = prepare({ ...model, rules: [rule] });
    const [own] = ready.rules;
    const found = new Float64Array(rows.n).fill(1);
    for (let i = 0; i < rows.n && own.conditions.length; i += 1) {
      const values = cache.values(i);
      let degree = membership(0, values);
      for (let k = 1; k < own.conditions.length; k += 1)
        degree = ready.join(degree, membership(k, values));
      found[i] = degree;
    }
    return found;

    function membership(k, values) {
      const condition = own.conditions[k];
      return Math.max(fit(ready, own, condition, values[condition.column]), 0);
    }
  }
}

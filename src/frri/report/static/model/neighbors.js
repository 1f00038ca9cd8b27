/**
 * Which rules lie near a rule: by the rows that both cover, and by what their conditions say.
 */

import { shared, size } from "./rows.js";
import { allows, attributesByName, boundsOf, rangeOf } from "../core/format.js";

/**
 * The rules that share most embedded rows with a rule, relative to what either covers.
 *
 * @param {object} state
 * @param {object} entry
 * @param {number} most
 * @returns {Array<{entry: object, rows: number, share: number}>}
 */
export function overlapping(state, entry, most) {
  const own = size(entry.cover);
  return state.entries
    .filter((other) => other !== entry)
    .map((other) => {
      const rows = shared(entry.cover, other.cover);
      return { entry: other, rows, share: rows / Math.max(own + size(other.cover) - rows, 1) };
    })
    .filter(({ rows }) => rows)
    .sort((a, b) => b.share - a.share)
    .slice(0, most);
}

/**
 * The rules whose conditions are most like those of a rule.
 *
 * @param {object} state
 * @param {object} entry
 * @param {number} most
 * @returns {Array<{entry: object, share: number}>}
 */
export function neighbouring(state, entry, most) {
  const attributes = attributesByName(state.model);
  return state.entries
    .filter((other) => other !== entry)
    .map((other) => ({ entry: other, share: likeness(entry.rule, other.rule, attributes) }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
    .slice(0, most);
}

/**
 * From 0 to 1: how much what two rules allow coincides, on average over the attributes of either.
 *
 * @param {object} a
 * @param {object} b
 * @param {Map<string, object>} attributes
 * @returns {number}
 */
export function likeness(a, b, attributes) {
  const names = new Set([...a.if, ...b.if].map((condition) => condition.attribute));
  if (!names.size) return 1;
  let sum = 0;
  for (const name of names) {
    const attribute = attributes.get(name);
    const [left, right] = [a, b].map((rule) =>
      rule.if.filter((condition) => condition.attribute === name),
    );
    sum +=
      attribute.kind === "nominal"
        ? likeValues(left, right, attribute)
        : likeBounds(left, right, attribute);
  }
  return sum / names.size;
}

function likeValues(left, right, attribute) {
  const [a, b] = [left, right].map((conditions) =>
    attribute.categories.filter((category) =>
      conditions.every((condition) => allows(condition, category)),
    ),
  );
  const both = a.filter((category) => b.includes(category)).length;
  return both / Math.max(a.length + b.length - both, 1);
}

function likeBounds(left, right, attribute) {
  const [low, high] = rangeOf(attribute);
  const [a, b] = [left, right].map((conditions) => {
    const bounds = conditions.map(boundsOf);
    return [
      Math.max(low, ...bounds.map((one) => one[0])),
      Math.min(high, ...bounds.map((one) => one[3])),
    ];
  });
  const both = Math.min(a[1], b[1]) - Math.max(a[0], b[0]);
  const either = Math.max(a[1], b[1]) - Math.min(a[0], b[0]);
  if (both < 0) return 0;
  if (!Number.isFinite(either)) return Number.isFinite(both) ? 0 : 1;
  return either > 0 ? both / either : 1;
}

/**
 * The embedded rows: unpacked columns, classes and decisions.
 */

import { show } from "../core/format.js";

/** Values of a column that makes groups, at most. */
const MOST_GROUPS = 12;

const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/** Stands for a category never seen in training; no category is called so. */
const UNSEEN = "\uFFFF never seen";

/**
 * The facts that came with the page: deflated JSON, as base64.
 *
 * @param {string} text
 * @returns {Promise<object>}
 */
export async function readFacts(text) {
  const packed = new Blob([bytesOf(text)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("deflate"))).json();
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * A packed column of numbers.
 *
 * @param {{type: string, data: string, values?: Array<number|null>, least?: number,
 *   places?: number}} packed
 * @returns {ArrayLike<number>}
 */
export function unpack(packed) {
  const numbers = new ARRAYS[packed.type](bytesOf(packed.data).buffer);
  if (packed.places !== undefined) {
    const { least, places } = packed;
    return Float64Array.from(numbers, (whole) => (least + whole) / 10 ** places);
  }
  if (!packed.values) return numbers;
  return Float64Array.from(numbers, (code) => packed.values[code] ?? NaN);
}

/**
 * The rows that came with the page.
 *
 * @param {object} facts
 * @returns {?{n: number, columns: ArrayLike<number>[], classes: ?ArrayLike<number>,
 *   decided: Uint16Array, truth: ?ArrayLike<number>, answers: ?ArrayLike<number>, number: function(number): number,
 *   name: function(number): string, at: function(number): Array,
 *   find: function(number): number}}
 */
export function readRows(facts) {
  const { data, model } = facts;
  if (data === null) return null;
  const columns = data.columns.map(unpack);
  const numbers = data.rows && unpack(data.rows);
  const read = (attribute, value) => {
    if (Number.isNaN(value)) return null;
    if (!attribute.categories) return value;
    return attribute.categories[value] ?? UNSEEN;
  };
  return {
    n: data.n_embedded,
    columns,
    classes: data.classes && unpack(data.classes),
    decided: Uint16Array.from(unpack(data.decided)),
    /** True and predicted numbers, where rules predict such; then classes and decisions are their levels. */
    truth: data.truth ? unpack(data.truth) : null,
    answers: data.answers ? unpack(data.answers) : null,
    /** The number of a row in the table that was given, from 1. */
    number: (i) => (numbers ? numbers[i] : i) + 1,
    /** What a row is called: its name, or else its number. */
    name: (i) => (data.names ? data.names[i] : String((numbers ? numbers[i] : i) + 1)),
    /** The position of the row with a number, -1 if it is not embedded. */
    find: (number) =>
      numbers ? Array.prototype.indexOf.call(numbers, number - 1) : number <= data.n_embedded ? number - 1 : -1,
    /** The values of a row as the evaluator takes them. */
    at: (i) => model.attributes.map((attribute, j) => read(attribute, columns[j][i])),
  };
}

/**
 * How many rows a set has.
 *
 * @param {Uint8Array} flags
 * @returns {number}
 */
export function size(flags) {
  let count = 0;
  for (let i = 0; i < flags.length; i += 1) count += flags[i];
  return count;
}

/**
 * The values of a column with their rows, in order.
 *
 * @param {object} facts
 * @param {object} rows
 * @param {number} j
 * @returns {?Array<[string, number[]]>} null for too many or too few values
 */
export function groupsOf({ model }, rows, j) {
  const attribute = model.attributes[j];
  const found = new Map();
  for (let i = 0; i < rows.n; i += 1) {
    // A missing value is a group of its own.
    const value = rows.columns[j][i];
    if (!found.has(value)) found.set(value, []);
    found.get(value).push(i);
    if (found.size > MOST_GROUPS) return null;
  }
  if (found.size < 2) return null;
  const order = (value) => (Number.isNaN(value) ? Infinity : value);
  return [...found].sort(([a], [b]) => order(a) - order(b)).map(([value, own]) => [nameOf(attribute, value), own]);
}

function nameOf(attribute, value) {
  if (Number.isNaN(value)) return "missing";
  if (attribute.categories) return attribute.categories[value] ?? "not seen in training";
  return show(attribute, value);
}

/**
 * The embedded rows: unpacked columns, classes and decisions.
 */

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
 * A packed column of numbers.
 *
 * @param {{type: string, data: string, values?: Array<number|null>, least?: number,
 *   places?: number}} packed
 * @returns {ArrayLike<number>}
 */
export function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (character) => character.charCodeAt(0));
  const numbers = new ARRAYS[packed.type](bytes.buffer);
  if (packed.places !== undefined) {
    const { least, places } = packed;
    return Float64Array.from(numbers, (whole) => (least + whole) / 10 ** places);
  }
  if (!packed.values) return numbers;
  return Float64Array.from(numbers, (code) => packed.values[code] ?? NaN);
}

/**
 * A packed set of rows as one byte per row.
 *
 * @param {{type: string, data: string}} packed
 * @param {number} nRows
 * @returns {Uint8Array} 1 where the row belongs to the set
 */
export function unpackFlags(packed, nRows) {
  const flags = new Uint8Array(nRows);
  if (packed.type === "bits") {
    const bytes = unpack({ type: "u1", data: packed.data });
    for (let i = 0; i < nRows; i += 1) flags[i] = (bytes[i >> 3] >> (i & 7)) & 1;
  } else {
    for (const row of unpack(packed)) flags[row] = 1;
  }
  return flags;
}

/**
 * The rows that came with the page.
 *
 * @param {object} facts
 * @returns {?{n: number, columns: ArrayLike<number>[], classes: ?ArrayLike<number>,
 *   decided: Uint16Array, truth: ?ArrayLike<number>, answers: ?ArrayLike<number>, number: function(number): number, at: function(number): Array,
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
    plane: data.plane && data.plane.map(unpack),
    /** The number of a row in the table that was given, from 1. */
    number: (i) => (numbers ? numbers[i] : i) + 1,
    /** What a row is called: its name, or else its number. */
    name: (i) => (data.names ? data.names[i] : String((numbers ? numbers[i] : i) + 1)),
    /** The position of the row with a number, -1 if it is not embedded. */
    find: (number) =>
      numbers ? numbers.indexOf(number - 1) : number <= data.n_embedded ? number - 1 : -1,
    /** The values of a row as the evaluator takes them. */
    at: (i) => model.attributes.map((attribute, j) => read(attribute, columns[j][i])),
  };
}

/**
 * How many rows two sets share.
 *
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 * @returns {number}
 */
export function shared(a, b) {
  let count = 0;
  for (let i = 0; i < a.length; i += 1) count += a[i] & b[i];
  return count;
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

/** Numbers, values and shares in words: rounded as in Python, with typographic signs. */

/** How finely a number is shown: this many steps of ten below the width of its range. */
const DIGITS = 3;

/**
 * Lowest and highest training value of an attribute, infinite where unknown.
 *
 * @param {object} attribute
 * @returns {[number, number]}
 */
export function rangeOf(attribute) {
  if (attribute.categories) return [0, attribute.categories.length - 1];
  return [attribute.low ?? -Infinity, attribute.high ?? Infinity];
}

/**
 * Length of the training range, 1 where there is none to speak of.
 *
 * @param {object} attribute
 * @returns {number}
 */
export function widthOf(attribute) {
  if (attribute.kind === "nominal") return 1;
  const [low, high] = rangeOf(attribute);
  const width = high - low;
  return width > 0 && width < Infinity ? width : 1;
}

/**
 * A number to three more places than the range that it belongs to, without trailing zeros.
 *
 * @param {number} value
 * @param {number} width
 * @returns {string}
 */
export function numberText(value, width) {
  const decimals = DIGITS - Math.floor(Math.log10(width));
  if (decimals > 12 || Math.abs(value) >= 1e15) return general(value);
  if (decimals < 0) return String(Math.round(value * 10 ** decimals) * 10 ** -decimals || 0);
  const shown = value.toFixed(decimals);
  const short = shown.includes(".") ? shown.replace(/0+$/, "").replace(/\.$/, "") : shown;
  return short === "-0" ? "0" : short;
}

/**
 * Six significant digits, very large and very small numbers with an exponent.
 *
 * @param {number} value
 * @returns {string}
 */
function general(value) {
  const [mantissa, exponent] = value.toExponential(5).split("e");
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(Number(value.toPrecision(6)));
  const digits = exponent.slice(1).padStart(2, "0");
  return `${Number(mantissa)}e${exponent[0]}${digits}`;
}

/**
 * A number with a minus sign in the place of a hyphen.
 *
 * @param {string} text
 * @returns {string}
 */
export function withMinus(text) {
  return text.replace(/^-/, "−");
}

/**
 * A value as it is typed: with a hyphen, which other programs read.
 *
 * @param {object} attribute
 * @param {number|string} value
 * @returns {string}
 */
export function typedValue(attribute, value) {
  return showValue(attribute, value).replace(/^−(?=\d)/, "-");
}

/**
 * A value of an attribute: rounded, as a date, or as the name of a category.
 *
 * @param {object} attribute
 * @param {number} value encoded
 * @returns {string}
 */
export function show(attribute, value) {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (attribute.categories) return categoryText(attribute.categories, value);
  if (attribute.kind === "date") return dateText(value, widthOf(attribute));
  return withMinus(numberText(value, widthOf(attribute)));
}

/**
 * A value as the evaluator takes it (a number, the name of a category, null), for people.
 *
 * @param {object} attribute
 * @param {number|string|null} value
 * @returns {string}
 */
export function showValue(attribute, value) {
  if (value === null || Number.isNaN(value)) return "missing";
  return typeof value === "string" ? value : show(attribute, value);
}

/**
 * A missing value, and what it counts as where it counts as the typical one.
 *
 * @param {object} model
 * @param {object} attribute
 * @returns {string}
 */
export function missingText(model, attribute) {
  const typical = model.semantics.missing === "typical" ? attribute.typical : undefined;
  return typical === undefined ? "missing" : `missing: counts as ${showValue(attribute, typical)}`;
}

function categoryText(categories, value) {
  const last = categories.length - 1;
  if (Number.isInteger(value) && value >= 0 && value <= last) return categories[value];
  const below = Math.min(Math.max(Math.floor(value), -1), last);
  if (below < 0) return `below ${categories[0]}`;
  if (below === last) return `above ${categories[last]}`;
  return `between ${categories[below]} and ${categories[below + 1]}`;
}

/** A day, with the time of day where the whole range is only some weeks. */
function dateText(days, width) {
  const moment = new Date(Math.round(days * 86400) * 1000);
  if (Number.isNaN(moment.getTime())) return String(days);
  const [day, time] = moment.toISOString().slice(0, -5).split("T");
  return time === "00:00:00" || width > 60 ? day : `${day} ${time}`;
}

/**
 * The four bounds of a numeric condition, infinite where open.
 *
 * @param {object} condition
 * @returns {[number, number, number, number]}
 */
export function boundsOf(condition) {
  const [a, b, c, d] = condition.trapezoid;
  return [a ?? -Infinity, b ?? -Infinity, c ?? Infinity, d ?? Infinity];
}

/**
 * Whether a condition on categories holds for one of them.
 *
 * @param {object} condition
 * @param {string} category
 * @returns {boolean}
 */
export function allows(condition, category) {
  return condition.values.includes(category) !== Boolean(condition.excludes);
}

/**
 * Whether core and support are neighbouring numbers, as in `< b` and `> b`.
 *
 * @param {number} core
 * @param {number} support
 * @returns {boolean}
 */
export function isStrict(core, support) {
  if (core === support || !Number.isFinite(core) || !Number.isFinite(support)) return false;
  const middle = core + (support - core) / 2;
  return middle === core || middle === support;
}

/**
 * Attributes of a model by name.
 *
 * @param {object} model
 * @returns {Map<string, object>}
 */
export function attributesByName(model) {
  if (!byName.has(model.attributes)) {
    byName.set(model.attributes, new Map(model.attributes.map((a) => [a.name, a])));
  }
  return byName.get(model.attributes);
}
const byName = new WeakMap();

/**
 * A share to two decimals, small ones to two significant digits.
 *
 * @param {number|null|undefined} value
 * @returns {string}
 */
export function shareText(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 0.095 || value === 0) return value.toFixed(2);
  return String(Number(value.toPrecision(2)));
}

/**
 * A vote: a number with its sign, to two decimals.
 *
 * @param {number} value
 * @returns {string}
 */
export function signedText(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

/**
 * A share as a percentage.
 *
 * @param {number|null|undefined} value
 * @returns {string}
 */
export function percentText(value) {
  if (value === null || value === undefined) return "–";
  const percent = value * 100;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/**
 * A number with its noun: "1 row", "1,204 rows".
 *
 * @param {number} count
 * @param {string} noun
 * @param {string} [nouns] where an s is not enough
 * @returns {string}
 */
export function counted(count, noun, nouns = `${noun}s`) {
  return `${whole(count)} ${count === 1 ? noun : nouns}`;
}

/**
 * An integer with commas: "1,204".
 *
 * @param {number} count
 * @returns {string}
 */
export function whole(count) {
  return count.toLocaleString("en");
}

/**
 * @param {Iterable<number>} numbers
 * @returns {number}
 */
export function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/**
 * The nearest number within bounds.
 *
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * A measure as a title: "Accuracy", "R²".
 *
 * @param {string} name
 * @returns {string}
 */
export function measureTitle(name) {
  return name === "R2" ? "R²" : `${name[0].toUpperCase()}${name.slice(1)}`;
}

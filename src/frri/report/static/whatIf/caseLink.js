/** A case in the address of the page, behind the #: it can be sent, and nothing is asked of a server. */

const KEY = "case=";

/**
 * @param {Array} values
 * @returns {string} the address of a case
 */
export function caseAddress(values) {
  return `${KEY}${encodeURIComponent(JSON.stringify(values))}`;
}

/**
 * The case that the address holds.
 *
 * @param {object} model
 * @returns {?Array} null if it holds none that fits the model
 */
export function sharedCase({ attributes }) {
  const { hash } = window.location;
  if (!hash.startsWith(`#${KEY}`)) return null;
  try {
    const values = JSON.parse(decodeURIComponent(hash.slice(1 + KEY.length)));
    return Array.isArray(values) && values.length === attributes.length && values.every(fits) ? values : null;
  } catch {
    return null;
  }

  function fits(value, j) {
    if (value === null) return true;
    return attributes[j].categories ? typeof value === "string" : Number.isFinite(value);
  }
}

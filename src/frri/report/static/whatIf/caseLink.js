/** A case in the address of the page, behind the #: it can be sent, and nothing is asked of a server. */

import { actionButton, announce } from "../core/dom.js";

const KEY = "case=";

/**
 * A button that puts the case into the address, and into the clipboard where that may be written to.
 *
 * @param {function(): Array} values
 * @returns {HTMLElement}
 */
export function linkTo(values) {
  const button = actionButton("Link to it", async () => {
    window.location.replace(`#${KEY}${encodeURIComponent(JSON.stringify(values()))}`);
    const isCopied = await copied(window.location.href);
    button.textContent = isCopied ? "Link copied" : "Link is in the address";
    announce(button.textContent);
    setTimeout(() => {
      button.textContent = "Link to it";
    }, 4000);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
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
    return Array.isArray(values) && values.length === attributes.length && values.every(fits)
      ? values
      : null;
  } catch {
    return null;
  }

  function fits(value, j) {
    if (value === null) return true;
    return attributes[j].categories ? typeof value === "string" : Number.isFinite(value);
  }
}

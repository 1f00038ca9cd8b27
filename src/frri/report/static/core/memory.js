/** The memory of the browser; frames without an origin, and full memories, keep nothing. */

/**
 * @param {"localStorage"|"sessionStorage"} where
 * @param {string} key
 * @returns {*} null where nothing is kept
 */
export function recall(where, key) {
  try {
    return JSON.parse(window[where].getItem(key));
  } catch {
    return null;
  }
}

/**
 * @param {"localStorage"|"sessionStorage"} where
 * @param {string} key
 * @param {*} content null forgets
 */
export function remember(where, key, content) {
  try {
    if (content === null) window[where].removeItem(key);
    else window[where].setItem(key, JSON.stringify(content));
  } catch {
    // It lasts as long as the page.
  }
}

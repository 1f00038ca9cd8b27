/** Edits in the memory of the browser's tab: a reload of the page has them again, closing the tab forgets them. */

import { recall, remember } from "../core/memory.js";

/**
 * Save the edits after each change, and make those again that were saved before.
 *
 * @param {object} store
 */
export function keepEdits(store) {
  const { rules } = store.facts.model;
  const key = `frri ${window.location.pathname} ${digest(JSON.stringify(store.facts.model))}`;
  const saved = recall("sessionStorage", key);
  if (saved) store.replay(saved.steps.map(unpacked), saved.current);
  store.subscribe(save);
  window.addEventListener("pagehide", save);

  function save() {
    const hasSteps = store.isEdited || store.canRedo;
    remember("sessionStorage", key, hasSteps ? { steps: store.steps.map(packed), current: store.current } : null);
  }

  /** A rule as it was learned is saved as its number. */
  function packed({ rules: now, ...step }) {
    return { ...step, rules: now.map(([number, rule]) => (rules[number - 1] === rule ? number : [number, rule])) };
  }

  function unpacked({ rules: now, ...step }) {
    return { ...step, rules: now.map((one) => (Array.isArray(one) ? one : [one, rules[one - 1]])) };
  }
}

/** 32 bits that tell models apart (FNV-1a). */
function digest(text) {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  return (bits >>> 0).toString(16);
}

/** Where What-if says what it found out about a row: the answer, why, what would change it, the rules that fire. */

import { h, put } from "../core/dom.js";

/**
 * @param {string} name "Decision" or "Prediction"
 * @param {HTMLElement[]} now what stands below it at once
 * @param {HTMLElement[]} why
 * @param {string} changing what the search below is for
 */
export function resultFrame(name, now, why, changing) {
  const change = h("div", { class: "change" }, h("p", { class: "muted" }, "Searching …"));
  const firing = h("div", { class: "firing" });
  const firingTitle = h("h3", {}, "Rules that fire");
  const element = h(
    "section",
    { class: "verdict", "aria-label": name },
    h("div", { class: "card now", role: "status" }, h("h2", { class: "kicker" }, name), now),
    h("div", { class: "card" }, h("h3", {}, "Why"), why),
    h("div", { class: "card" }, h("h3", {}, changing), change),
    h("div", { class: "card" }, firingTitle, firing),
  );
  let turn = 0;
  return {
    element,
    firing,
    firingTitle,

    /**
     * Search when the answer has been painted, and show what is found unless another search has begun.
     *
     * @param {function(function(): boolean): Promise<?(HTMLElement|HTMLElement[])>} search told whether it is
     *   stale; null gives up
     */
    later(search) {
      turn += 1;
      const mine = turn;
      const isStale = () => mine !== turn;
      change.setAttribute("aria-busy", "true");
      setTimeout(async () => {
        if (isStale()) return;
        const found = await search(isStale);
        if (!found || isStale()) return;
        put(change, found);
        change.removeAttribute("aria-busy");
      });
    },
  };
}

/** The frame below an attribute's slider: as wide as its range, with a needle where the row stands. */

import { h, s } from "../core/dom.js";
import { scalesOnce } from "./distributions.js";

const WIDTH = 1000;

/**
 * @param {object} store
 * @param {object} attribute
 * @param {{height: number, extra: string}} look
 * @returns {{element: HTMLElement, layer: SVGElement, place: function(number): number,
 *   say: function(?string): void, point: function(*): void}} what is drawn goes into `layer`, at a `place` that is
 *   never outside; `say` tells those who do not see it, null that there is nothing
 */
export function stripFrame(store, attribute, { height, extra }) {
  const { low, high } = scalesOnce(store).get(attribute.name);
  const place = (value) => Math.min(Math.max((WIDTH * (value - low)) / (high - low), 0), WIDTH);
  const layer = s("g", {});
  const needle = s("rect", { class: "needle", width: 10, height: height + 6, y: -3 });
  const picture = s(
    "svg",
    {
      class: extra,
      viewBox: `0 0 ${WIDTH} ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    layer,
    needle,
  );
  const words = h("span", { class: "hidden" });
  return {
    element: h("div", { class: "strip-box" }, picture, words),
    layer,
    place,
    say(text) {
      picture.classList.toggle("unknown", text === null);
      words.textContent = text ?? "";
    },
    point(value) {
      const at = attribute.categories ? attribute.categories.indexOf(value) : value;
      const isKnown = value !== null && Number.isFinite(at) && (!attribute.categories || at >= 0);
      needle.classList.toggle("nowhere", !isKnown);
      if (isKnown) needle.setAttribute("x", place(at) - 5);
    },
  };
}

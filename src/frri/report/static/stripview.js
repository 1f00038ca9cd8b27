/** The strip below an attribute: the class that would result at each of its values, and where it stands. */

import { classColour } from "./chart.js";
import { h, put, s } from "./dom.js";
import { scalesOnce } from "./scales.js";
import { counted, show } from "./words.js";

const [WIDTH, HEIGHT] = [1000, 10];
const MOST_PIECES = 3;

/**
 * @param {object} store
 * @param {object} attribute
 * @returns {{element: HTMLElement, show: function(?object[]): void, point: function(*): void}}
 */
export function stripView(store, attribute) {
  const { low, high } = scalesOnce(store).get(attribute.name);
  const x = (value) => (WIDTH * (value - low)) / (high - low);
  const inside = (place) => Math.min(Math.max(place, 0), WIDTH);
  const band = s("g", {});
  const needle = s("rect", { class: "needle", width: 6, height: HEIGHT, y: 0 });
  const picture = s(
    "svg",
    {
      class: "strip",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    band,
    needle,
  );
  const words = h("span", { class: "hidden" });
  return {
    element: h("div", { class: "strip-box" }, picture, words),
    /** Pieces as in strips.js; null for an attribute that no rule uses. */
    show(pieces) {
      picture.classList.toggle("unknown", !pieces);
      const half = attribute.categories ? 0.5 : 0;
      put(
        band,
        (pieces ?? []).map(({ from, to, decided }) => {
          const [left, right] = [x(from - half), x(to + half)].map(inside);
          return s("rect", {
            class: classColour(store.facts, decided),
            x: left,
            width: Math.max(right - left, 2),
            height: HEIGHT,
          });
        }),
      );
      words.textContent = pieces ? described(pieces) : "";
    },
    point(value) {
      const place = attribute.categories ? attribute.categories.indexOf(value) : value;
      const isKnown = value !== null && Number.isFinite(place) && (!attribute.categories || place >= 0);
      needle.classList.toggle("nowhere", !isKnown);
      if (isKnown) needle.setAttribute("x", inside(x(place)) - 3);
    },
  };

  /** For those who do not see it. */
  function described(pieces) {
    const { classes } = store.facts.model;
    if (attribute.categories) {
      const phrases = pieces.map(({ from, decided }) => `${attribute.categories[from]}: ${classes[decided]}`);
      return phrases.slice(0, 2 * MOST_PIECES).join(", ");
    }
    const phrases = pieces
      .slice(0, MOST_PIECES)
      .map(({ from, to, decided }) => `${classes[decided]} from ${show(attribute, from)} to ${show(attribute, to)}`);
    const rest = pieces.length - MOST_PIECES;
    return `${phrases.join(", ")}${rest > 0 ? `, and ${counted(rest, "piece")} more` : ""}`;
  }
}

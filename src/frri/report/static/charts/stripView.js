/** The strip below an attribute: the class that would result at each of its values, and where it stands. */

import { classColour } from "./chart.js";
import { put, s } from "../core/dom.js";
import { stripFrame } from "./stripFrame.js";
import { counted, show } from "../core/format.js";

const HEIGHT = 10;
const MOST_PIECES = 3;

/**
 * @param {object} store
 * @param {object} attribute
 * @returns {{element: HTMLElement, show: function(?object[]): void, point: function(*): void}}
 */
export function stripView(store, attribute) {
  const look = { height: HEIGHT, extra: "strip" };
  const { element, layer, place, point, say } = stripFrame(store, attribute, look);
  return {
    element,
    point,
    /** Pieces as in classStrips.js; null for an attribute that no rule uses. */
    show(pieces) {
      const half = attribute.categories ? 0.5 : 0;
      put(
        layer,
        (pieces ?? []).map(({ from, to, decided }) => {
          const [left, right] = [from - half, to + half].map(place);
          return s("rect", {
            class: classColour(store.facts, decided),
            x: left,
            width: Math.max(right - left, 2),
            height: HEIGHT,
          });
        }),
      );
      say(pieces && described(pieces));
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

/**
 * Below an attribute of a row, as wide as its range: the class that would result at each of its values, or a curve of
 * the number, with a needle where the row stands.
 */

import { h, put, s, span, stretched } from "../core/dom.js";
import { counted, show, within } from "../core/format.js";
import { kindOf, shownNumber } from "../model/kind.js";
import { classColour } from "./chart.js";
import { scalesOnce } from "./distributions.js";

const WIDTH = 1000;
const MOST_PIECES = 3;

/**
 * @param {object} store
 * @param {object} attribute
 * @returns {{element: HTMLElement, show: function(?object[]): void, point: function(*): void}} show takes pieces
 *   (see whatIf/classStrips.js), or points of a curve; null for an attribute that no rule uses
 */
export function stripView(store, attribute) {
  const { facts } = store;
  const { isNumber } = kindOf(facts.model);
  const height = isNumber ? 40 : 10;
  const { low, high } = scalesOnce(store).get(attribute.name);
  const place = (value) => within((WIDTH * (value - low)) / (high - low), 0, WIDTH);
  const layer = s("g", {});
  const needle = s("rect", { class: "needle", width: 10, height: height + 6, y: -3 });
  const picture = stretched(isNumber ? "strip number-curve" : "strip", WIDTH, height, layer, needle);
  const words = span(isNumber ? "muted reach" : "hidden");
  return {
    element: h("div", "strip-box", picture, words),
    show(found) {
      put(layer, found && (isNumber ? s("path", { class: "line", d: curve(found) }) : found.map(piece)));
      picture.classList.toggle("unknown", !found);
      words.textContent = found ? (isNumber ? curveText(found) : piecesText(found)) : "";
    },
    point(value) {
      const at = attribute.categories ? attribute.categories.indexOf(value) : value;
      const isKnown = value !== null && Number.isFinite(at) && (!attribute.categories || at >= 0);
      needle.classList.toggle("nowhere", !isKnown);
      if (isKnown) needle.setAttribute("x", place(at) - 5);
    },
  };

  function piece({ from, to, decided }) {
    const half = attribute.categories ? 0.5 : 0;
    const [left, right] = [from - half, to + half].map(place);
    return s("rect", { class: classColour(facts, decided), x: left, width: Math.max(right - left, 2), height });
  }

  /** All attributes share the scale of the numbers; what lies beyond is drawn at its ends. */
  function curve(points) {
    const { low: least, high: most } = facts.numbers;
    const share = (value) => (most > least ? (value - least) / (most - least) : 0.5);
    const y = (value) => (2 + (height - 4) * (1 - within(share(value), 0, 1))).toFixed(1);
    if (!attribute.categories)
      return points.map(({ at, means }, i) => `${i ? "L" : "M"}${place(at).toFixed(1)} ${y(means[0])}`).join("");
    return points
      .map(({ at, means }) => `M${place(at - 0.4).toFixed(1)} ${y(means[0])}H${place(at + 0.4).toFixed(1)}`)
      .join("");
  }

  function curveText(points) {
    const answers = points.map(({ means }) => means[0]);
    const [least, most] = [Math.min(...answers), Math.max(...answers)].map((one) => shownNumber(facts, one));
    return least === most ? "no effect here" : `${kindOf(facts.model).answer} ${least} to ${most}`;
  }

  /** For those who do not see it. */
  function piecesText(pieces) {
    const { classes } = facts.model;
    if (attribute.categories)
      return pieces.slice(0, 2 * MOST_PIECES).map(({ from, decided }) => `${attribute.categories[from]}: ${classes[decided]}`).join(", ");
    const phrases = pieces
      .slice(0, MOST_PIECES)
      .map(({ from, to, decided }) => `${classes[decided]} from ${show(attribute, from)} to ${show(attribute, to)}`);
    const rest = pieces.length - MOST_PIECES;
    return `${phrases.join(", ")}${rest > 0 ? `, and ${counted(rest, "piece")} more` : ""}`;
  }
}

/** The curve below an attribute: the number that would result at each of its values, and where it stands. */

import { put, s } from "../core/dom.js";
import { extremes } from "../whatIf/numberCurves.js";
import { shownNumber } from "../model/regression.js";
import { stripFrame } from "./stripFrame.js";

const HEIGHT = 40;

/**
 * @param {object} store
 * @param {object} attribute
 * @returns {{element: HTMLElement, show: function(?object[]): void, point: function(*): void}}
 */
export function curveView(store, attribute) {
  const { facts } = store;
  const look = { height: HEIGHT, extra: "strip number-curve" };
  const { element, layer, place, point, say } = stripFrame(store, attribute, look);
  return {
    element,
    point,
    /** Points as in numberCurves.js; null for an attribute that no rule uses. */
    show(points) {
      put(layer, points ? s("path", { class: "line", d: drawn(points) }) : null);
      say(points && described(points));
    },
  };

  /** All attributes share the scale of the numbers; what lies beyond is drawn at its ends. */
  function drawn(points) {
    const { low: least, high: most } = facts.numbers;
    const share = (value) => (most > least ? (value - least) / (most - least) : 0.5);
    const y = (value) => (2 + (HEIGHT - 4) * (1 - Math.min(Math.max(share(value), 0), 1))).toFixed(1);
    if (!attribute.categories)
      return points.map(({ at, answer }, i) => `${i ? "L" : "M"}${place(at).toFixed(1)} ${y(answer)}`).join("");
    return points
      .map(({ at, answer }) => `M${place(at - 0.4).toFixed(1)} ${y(answer)}H${place(at + 0.4).toFixed(1)}`)
      .join("");
  }

  /** For those who do not see it. */
  function described(points) {
    const { lowest, highest } = extremes(points);
    const [least, most] = [lowest, highest].map(({ answer }) => shownNumber(facts, answer));
    return `between ${least} and ${most} along this attribute`;
  }
}

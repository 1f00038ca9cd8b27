/** The curve below an attribute: the number that would result at each of its values, and where it stands. */

import { h, put, s } from "./dom.js";
import { extremes } from "./numbercurves.js";
import { shownNumber } from "./numbers.js";
import { scalesOnce } from "./scales.js";

const [WIDTH, HEIGHT] = [1000, 40];

/**
 * @param {object} store
 * @param {object} attribute
 * @returns {{element: HTMLElement, show: function(?object[]): void, point: function(*): void}}
 */
export function curveView(store, attribute) {
  const { facts } = store;
  const { low, high } = scalesOnce(store).get(attribute.name);
  const x = (value) => (WIDTH * (value - low)) / (high - low);
  const inside = (place) => Math.min(Math.max(place, 0), WIDTH);
  const line = s("g", {});
  const needle = s("rect", { class: "needle", width: 6, height: HEIGHT, y: 0 });
  const picture = s(
    "svg",
    {
      class: "strip number-curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    needle,
    line,
  );
  const words = h("span", { class: "hidden" });
  return {
    element: h("div", { class: "strip-box" }, picture, words),
    /** Points as in numbercurves.js; null for an attribute that no rule uses. */
    show(points) {
      picture.classList.toggle("unknown", !points);
      put(line, points ? s("path", { class: "line", d: drawn(points) }) : null);
      words.textContent = points ? described(points) : "";
    },
    point(value) {
      const place = attribute.categories ? attribute.categories.indexOf(value) : value;
      const isKnown = value !== null && Number.isFinite(place) && (!attribute.categories || place >= 0);
      needle.classList.toggle("nowhere", !isKnown);
      if (isKnown) needle.setAttribute("x", inside(x(place)) - 3);
    },
  };

  /** All attributes share the scale of the numbers; what lies beyond is drawn at its ends. */
  function drawn(points) {
    const { low: least, high: most } = facts.numbers;
    const share = (value) => (most > least ? (value - least) / (most - least) : 0.5);
    const y = (value) => (2 + (HEIGHT - 4) * (1 - Math.min(Math.max(share(value), 0), 1))).toFixed(1);
    const place = (value) => inside(x(value)).toFixed(1);
    if (!attribute.categories)
      return points.map(({ at, answer }, i) => `${i ? "L" : "M"}${place(at)} ${y(answer)}`).join("");
    return points
      .map(({ at, answer }) => `M${place(at - 0.4)} ${y(answer)}H${place(at + 0.4)}`)
      .join("");
  }

  /** For those who do not see it. */
  function described(points) {
    const { lowest, highest } = extremes(points);
    const [least, most] = [lowest, highest].map(({ answer }) => shownNumber(facts, answer));
    return `between ${least} and ${most} along this attribute`;
  }
}

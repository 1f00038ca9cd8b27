/** A condition as a bar on the scale of its attribute: a solid core, and ends that fade. */

import { s, stretched } from "../core/dom.js";
import { allows, boundsOf, isStrict, within } from "../core/format.js";

const [WIDTH, HEIGHT] = [100, 12];

/** A core too narrow to see still gets a mark. */
const NARROWEST = 2.5;

/**
 * The gradients that ends fade by, one rising and one falling for every colour.
 *
 * @param {number} nColours
 * @returns {SVGElement}
 */
export function fadingGradients(nColours) {
  const names = [...Array.from({ length: nColours }, (_, k) => `c-${k}`), "c-other"];
  return s(
    "defs",
    {},
    names.flatMap((name) =>
      [
        ["rise", 0.1, 0.75],
        ["fall", 0.75, 0.1],
      ].map(([way, from, to]) =>
        s(
          "linearGradient",
          { id: `${way}-${name}`, class: `stop-${name}` },
          s("stop", { offset: 0, "stop-opacity": from }),
          s("stop", { offset: 1, "stop-opacity": to }),
        ),
      ),
    ),
  );
}

/**
 * @param {object} condition
 * @param {object} attribute
 * @param {object} scale
 * @param {string} colour name of the rule's
 * @returns {SVGElement}
 */
export function rangeBar(condition, attribute, scale, colour) {
  const rail = s("rect", { class: "rail", y: HEIGHT / 2 - 0.5, width: WIDTH, height: 1 });
  const parts = condition.values
    ? blocks(condition, attribute, colour)
    : trapezoid(condition, scale, colour);
  return stretched("range", WIDTH, HEIGHT, rail, parts);
}

/**
 * The bounds of a condition as shares of its scale, from 0 to 1; open sides reach to its ends.
 *
 * @param {object} condition
 * @param {object} scale
 * @returns {[number, number, number, number]}
 */
export function placesOf(condition, scale) {
  const [a, b, c, d] = boundsOf(condition);
  const place = (value) => (value - scale.low) / (scale.high - scale.low);
  const inside = (share) => within(share, 0, 1);
  return [
    a === -Infinity ? 0 : inside(place(isStrict(b, a) ? b : a)),
    b === -Infinity ? 0 : inside(place(b)),
    c === Infinity ? 1 : inside(place(c)),
    d === Infinity ? 1 : inside(place(isStrict(c, d) ? c : d)),
  ];
}

function trapezoid(condition, scale, colour) {
  const [a, b, c, d] = placesOf(condition, scale).map((share) => share * WIDTH);
  const left = Math.min(b, WIDTH - NARROWEST);
  const core = {
    class: colour,
    x: left,
    width: Math.max(c - b, NARROWEST),
    height: HEIGHT,
  };
  const slope = (way, from, to) =>
    to - from > 0.01
      ? s("rect", {
          fill: `url(#${way}-${colour})`,
          x: from,
          width: to - from,
          y: 2,
          height: HEIGHT - 4,
        })
      : null;
  return [slope("rise", a, b), slope("fall", c, d), s("rect", core)];
}

function blocks(condition, attribute, colour) {
  const step = WIDTH / attribute.categories.length;
  const gap = Math.min(1, step / 4);
  return attribute.categories.map((category, i) =>
    allows(condition, category)
      ? s("rect", { class: colour, x: i * step + gap, width: step - 2 * gap, height: HEIGHT })
      : null,
  );
}

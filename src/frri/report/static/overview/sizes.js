/** The sizes that the learner tried in cross-validation, with their standard errors. */

import { card, muted, s, scrolling } from "../core/dom.js";
import { counted, measureTitle } from "../core/format.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, APART] = [560, 220, 52, 16, 12, 30, 26];

/**
 * @param {object} store
 * @returns {?HTMLElement} null where no sizes were tried
 */
export function sizesCard({ facts }) {
  const { path } = facts;
  if (!path) return null;
  const { sizes, scores, errors, chosen, measure } = path;
  const best = scores.indexOf(Math.max(...scores));
  const near = scores[best] - errors[best];
  const [title, rules] = [measureTitle(measure), (k) => counted(sizes[k], "rule")];
  const text = `${title} on held-out training rows, with its standard error. Chosen: at most ${counted(chosen, "rule")}, the fewest within half a standard error of the best.`;
  const numbers = sizes.map((_, k) => `${rules(k)} ${scores[k].toFixed(3)} ± ${errors[k].toFixed(3)}`);
  return card("Size by cross-validation", "", muted(text), scrolling("Curve of the cross-validation", drawing(path, near, `${title}: ${numbers.join(", ")}`)));
}

function drawing({ sizes, scores, errors, chosen }, near, label) {
  const [low, high] = [
    Math.min(...scores.map((score, k) => score - errors[k])),
    Math.max(...scores.map((score, k) => score + errors[k])),
  ];
  const room = (high - low || 1) / 10;
  // Sizes grow by a factor: their logarithms are even.
  const [first, last] = [Math.log(sizes[0]), Math.log(sizes.at(-1))];
  const x = (size) =>
    LEFT + (WIDTH - LEFT - RIGHT) * (last > first ? (Math.log(size) - first) / (last - first) : 0.5);
  const y = (score) => TOP + ((HEIGHT - TOP - BOTTOM) * (high + room - score)) / (high - low + 2 * room);
  const line = sizes.map((size, k) => `${k ? "L" : "M"}${x(size).toFixed(1)} ${y(scores[k]).toFixed(1)}`).join("");
  // Numbers below the axis that do not hide each other, from the right.
  const apart = [];
  for (const size of [...sizes].reverse()) if (!apart.length || x(apart.at(-1)) - x(size) > APART) apart.push(size);
  const at = { x1: LEFT, x2: WIDTH - RIGHT, y1: y(near), y2: y(near) };
  return s(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": label,
    },
    [low, high].map((score) => s("text", { class: "tick", x: LEFT - 8, y: y(score) + 4, "text-anchor": "end" }, score.toFixed(2))),
    s("line", { class: "grid near", ...at }),
    sizes.map((size, k) =>
      s("line", { class: "whisker", x1: x(size), x2: x(size), y1: y(scores[k] - errors[k]), y2: y(scores[k] + errors[k]) }),
    ),
    s("path", { class: "line accuracy", d: line }),
    sizes.map((size, k) =>
      s("circle", { class: "dot accuracy", cx: x(size), cy: y(scores[k]), r: size === chosen ? 6 : 3 }),
    ),
    apart.map((size) => s("text", { class: "tick", x: x(size), y: HEIGHT - 8, "text-anchor": "middle" }, size)),
  );
}

/** How good fewer rules are, as a line: accuracy beside coverage, or by how much numbers are off. */

import { s } from "../core/dom.js";
import { shownNumber } from "../model/regression.js";
import { percentText } from "../core/format.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [560, 240, 44, 30, 12, 82];

/**
 * @param {object} facts
 * @param {Array<{n_rules: number, accuracy?: number, mae?: number, coverage: number}>} points
 * @returns {{element: SVGElement, mark: function(object): void}} mark shows one more point
 */
export function sizeCurve(facts, points) {
  const lines = linesOf(facts, points);
  const most = Math.max(...points.map((point) => point.n_rules), 1);
  const [{ top: highest, text }] = lines;
  const x = (n) => LEFT + ((WIDTH - LEFT - RIGHT) * n) / most;
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest);
  const last = points.at(-1);
  const pointer = s("g", { class: "pointer" });
  const element = s(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${lines.map(({ name }) => name).join(" and ")} against the number of rules; the table below has the numbers`,
    },
    [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
      const at = y(share * highest);
      return [
        s("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: at, y2: at }),
        s("text", { class: "tick", x: LEFT - 8, y: at + 4, "text-anchor": "end" }, text(share * highest)),
      ];
    }),
    [...new Set([0, Math.round(most / 2), most])].map((n) =>
      s(
        "text",
        { class: "tick", x: x(n), y: HEIGHT - 8, "text-anchor": "middle" },
        n === most ? `${n} rules` : String(n),
      ),
    ),
    [...lines].reverse().map(({ key, colour }) => s("path", { class: `line ${colour}`, d: path(key) })),
    s("circle", { class: "dot accuracy", cx: x(last.n_rules), cy: y(last[lines[0].key]), r: 4 }),
    labels(),
    pointer,
  );
  return {
    element,
    mark: (point) =>
      pointer.replaceChildren(
        s("line", { x1: x(point.n_rules), x2: x(point.n_rules), y1: TOP, y2: HEIGHT - BOTTOM }),
        ...lines.map(({ key, colour }) =>
          s("circle", { class: `dot ${colour}`, cx: x(point.n_rules), cy: y(Math.min(point[key], highest)), r: 4.5 }),
        ),
      ),
  };

  function path(key) {
    const place = (point) => `${x(point.n_rules).toFixed(1)} ${y(point[key]).toFixed(1)}`;
    return points.map((point, i) => `${i ? "L" : "M"}${place(point)}`).join("");
  }

  /** At the ends of the lines, and not upon each other. */
  function labels() {
    const heights = lines.map(({ key }) => y(last[key]));
    const isNear = Math.abs(heights[0] - heights.at(-1)) < 15;
    const lower = heights[0] >= heights.at(-1) ? 0 : 1;
    return lines.map(({ colour, name }, k) =>
      s(
        "text",
        { class: `label ${colour}`, x: x(most) + 8, y: heights[k] + 4 + (k === lower && isNear && lines.length > 1 ? 15 : 0) },
        name,
      ),
    );
  }
}

function linesOf(facts, points) {
  if (points[0].mae === undefined)
    return ["accuracy", "coverage"].map((key) => ({ key, name: key, colour: key, top: 1, text: percentText }));
  const top = Math.max(...points.map(({ mae }) => mae)) || 1;
  return [{ key: "mae", name: "off by", colour: "accuracy", top, text: (value) => shownNumber(facts, value) }];
}

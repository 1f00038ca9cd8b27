/** Predicted against true numbers: one square per row, and the line on which both are the same. */

import { classColour } from "./chart.js";
import { put, s } from "../core/dom.js";
import { shownNumber } from "../model/kind.js";

const [SIZE, MARGIN, DOT] = [420, 44, 5];
/** A click finds a row that is at most so far away. */
const REACH = 14;

/**
 * @param {object} store with rows whose numbers are known
 * @param {function(number): void} open told the row that was clicked
 * @returns {{element: SVGElement, show: function(number[]): void}} show takes the rows that are not pale
 */
export function scatterPicture(store, open) {
  const { rows, facts } = store;
  const { answers } = store.state;
  const both = [...rows.truth, ...answers];
  const low = both.reduce((a, b) => Math.min(a, b));
  const high = both.reduce((a, b) => Math.max(a, b));
  const place = (value) => (high > low ? (SIZE * (value - low)) / (high - low) : SIZE / 2);
  const [x, y] = [(i) => place(rows.truth[i]), (i) => SIZE - place(answers[i])];
  let shown = [...rows.truth.keys()];
  const dots = s("g", {});
  const text = (attributes, content) => s("text", { class: "tick", ...attributes }, content);
  const end = { x: SIZE, "text-anchor": "end" };
  const element = s(
    "svg",
    {
      class: "map scatter",
      viewBox: `${-MARGIN} -6 ${SIZE + MARGIN + 6} ${SIZE + MARGIN}`,
      role: "img",
      "aria-label": "Predicted against true numbers; the list of cases has the same rows",
    },
    s("rect", { class: "map-ground", width: SIZE, height: SIZE }),
    s("line", { class: "same", x1: 0, y1: SIZE, x2: SIZE, y2: 0 }),
    dots,
    text({ x: 0, y: SIZE + 16 }, shownNumber(facts, low)),
    text({ ...end, y: SIZE + 16 }, shownNumber(facts, high)),
    text({ x: SIZE / 2, y: SIZE + 32, "text-anchor": "middle" }, "true"),
    text({ x: -6, y: SIZE, "text-anchor": "end" }, shownNumber(facts, low)),
    text({ x: -6, y: 10, "text-anchor": "end" }, shownNumber(facts, high)),
    text({ x: -SIZE / 2, y: -12, "text-anchor": "middle", transform: "rotate(-90)" }, "predicted"),
  );
  element.addEventListener("click", (event) => {
    const nearest = nearestTo(event);
    if (nearest !== null) open(nearest);
  });
  draw();
  return {
    element,
    show(found) {
      shown = found;
      draw();
    },
  };

  function draw() {
    const isShown = new Uint8Array(rows.n);
    for (const i of shown) isShown[i] = 1;
    const paths = new Map([["elsewhere", []]]);
    for (let i = 0; i < rows.n; i += 1) {
      const key = isShown[i] ? classColour(facts, rows.classes[i]) : "elsewhere";
      if (!paths.has(key)) paths.set(key, []);
      paths
        .get(key)
        .push(`M${(x(i) - DOT / 2).toFixed(1)} ${(y(i) - DOT / 2).toFixed(1)}h${DOT}v${DOT}h${-DOT}z`);
    }
    put(dots, [...paths].map(([key, squares]) => s("path", { class: `dots ${key}`, d: squares.join("") })));
  }

  function nearestTo(event) {
    const frame = element.getBoundingClientRect();
    const unit = (SIZE + MARGIN + 6) / frame.width;
    const px = (event.clientX - frame.left) * unit - MARGIN;
    const py = (event.clientY - frame.top) * unit - 6;
    let [best, distance] = [null, REACH];
    for (const i of shown) {
      const far = Math.hypot(x(i) - px, y(i) - py);
      if (far < distance) [best, distance] = [i, far];
    }
    return best;
  }
}

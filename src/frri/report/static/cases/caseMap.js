/**
 * A map of the rows: two attributes, or the plane in which the table spreads most. On two attributes the
 * rules that use them are drawn as boxes: full where they hold, dashed where they end.
 */

import { classColour, ownSeries } from "../charts/chart.js";
import { h, put, s } from "../core/dom.js";
import { field, option } from "../rules/filters.js";
import { placesOf } from "../charts/rangeBar.js";
import { usedByRank } from "../model/ranking.js";
import { scalesOnce } from "../charts/distributions.js";
import { show } from "../core/format.js";

const SIZE = 420;
const DOT = 5;
const MOST_BOXES = 8;
/** A click finds a row that is at most so far away. */
const REACH = 14;

/**
 * @param {object} store with rows
 * @param {function(number): void} open told the row that was clicked
 * @returns {{element: HTMLElement, show: function(number[]): void}}
 */
export function caseMap(store, open) {
  const { facts, rows } = store;
  const { attributes } = facts.model;
  let shown = [];
  const main = mainAttributes(facts);
  const axis = (id, label, first) => {
    const select = h(
      "select",
      { id, onchange: () => draw() },
      facts.data.plane ? option("", label) : null,
      attributes.map(({ name }, j) => option(String(j), name)),
    );
    if (main.length === 2) select.value = String(main[first]);
    else if (!facts.data.plane) select.value = String(Math.min(first, attributes.length - 1));
    return select;
  };
  const across = axis("map-x", "Main direction", 0);
  const up = axis("map-y", "Second direction", 1);
  const boxes = h("input", { type: "checkbox", id: "map-boxes", checked: true, onchange: () => draw() });
  const picture = s("svg", {
    class: "map",
    viewBox: `-6 -6 ${SIZE + 12} ${SIZE + 26}`,
    role: "img",
    "aria-label": "Map of the rows; the list beside it has the same rows",
  });
  picture.addEventListener("click", (event) => {
    const nearest = nearestTo(event);
    if (nearest !== null) open(nearest);
  });
  return {
    element: h(
      "div",
      { class: "map-box" },
      h(
        "div",
        { class: "filters" },
        field("Across", across),
        field("Up", up),
        h("span", {}, boxes, h("label", { for: "map-boxes" }, " rules")),
      ),
      picture,
      h("p", { class: "muted legend" }, "Squares are rows in the colour of their class; ringed ones are decided wrongly."),
    ),
    show(found) {
      shown = found;
      draw();
    },
  };

  function places(select, k) {
    if (select.value === "") {
      const plane = rows.plane[k];
      return (i) => plane[i];
    }
    const j = Number(select.value);
    const { low, high } = scalesOnce(store).get(attributes[j].name);
    // Rows of one category lie beside each other, not upon each other; the same way each time.
    const aside = attributes[j].categories ? (i) => (((i * (k ? 0.7548776662 : 0.6180339887)) % 1) - 0.5) * 0.7 : () => 0;
    return (i) => {
      const value = rows.columns[j][i] + aside(i);
      return Number.isNaN(value) ? NaN : Math.min(Math.max((value - low) / (high - low), 0), 1);
    };
  }

  function draw() {
    const [x, y] = [places(across, 0), places(up, 1)];
    const isShown = new Uint8Array(rows.n);
    for (const i of shown) isShown[i] = 1;
    const paths = new Map();
    const rings = [];
    for (let i = 0; i < rows.n; i += 1) {
      const [left, top] = [x(i) * SIZE, (1 - y(i)) * SIZE];
      if (Number.isNaN(left) || Number.isNaN(top)) continue;
      const label = rows.classes ? rows.classes[i] : store.state.decided[i];
      const key = isShown[i] ? classColour(facts, label) : "elsewhere";
      const square = `M${(left - DOT / 2).toFixed(1)} ${(top - DOT / 2).toFixed(1)}h${DOT}v${DOT}h${-DOT}z`;
      if (!paths.has(key)) paths.set(key, []);
      paths.get(key).push(square);
      if (isShown[i] && rows.classes && rows.classes[i] !== store.state.decided[i])
        rings.push(`M${(left - 6).toFixed(1)} ${top.toFixed(1)}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z`);
    }
    const layer = (key) => s("path", { class: `dots ${key}`, d: paths.get(key).join("") });
    const keys = [...paths.keys()].sort((a, b) => Number(b === "elsewhere") - Number(a === "elsewhere"));
    put(
      picture,
      s("rect", { class: "map-ground", width: SIZE, height: SIZE }),
      boxes.checked ? ruleBoxes() : null,
      keys.map(layer),
      s("path", { class: "rings", d: rings.join("") }),
      ticks(across, (share) => ({ x: share * SIZE, y: SIZE + 14, "text-anchor": share ? "end" : "start" })),
      ticks(up, (share) => ({ x: 4, y: share ? 12 : SIZE - 4 })),
    );
  }

  /** Where an axis begins and ends. */
  function ticks(select, place) {
    if (select.value === "") return null;
    const attribute = attributes[Number(select.value)];
    const { low, high } = scalesOnce(store).get(attribute.name);
    const ends = attribute.categories
      ? [attribute.categories[0], attribute.categories.at(-1)]
      : [low, high].map((value) => show(attribute, value));
    return ends.map((end, share) => s("text", { class: "tick", ...place(share) }, String(end).slice(0, 24)));
  }

  /** The rules that decide most among those with conditions on what is shown. */
  function ruleBoxes() {
    if (across.value === "" || up.value === "") return null;
    const names = [across, up].map((select) => attributes[Number(select.value)].name);
    const scales = scalesOnce(store);
    const decides = ({ number }) => store.state.decides?.get(number)?.rows ?? 0;
    return store.state.entries
      .filter(({ rule }) => names.some((name) => rule.if.some(({ attribute }) => attribute === name)))
      .sort((a, b) => decides(b) - decides(a))
      .slice(0, MOST_BOXES)
      .flatMap(({ rule, number }) => {
        const [[a, b, c, d], [e, f, g, i]] = names.map((name) => {
          const condition = rule.if.find((one) => one.attribute === name && one.trapezoid);
          return condition ? placesOf(condition, scales.get(name)) : [0, 0, 1, 1];
        });
        const colour = `box-${classColour(facts, ownSeries(facts, rule))}`;
        const box = (x1, x2, y1, y2, extra) =>
          s(
            "rect",
            {
              class: `box ${extra} ${colour}`,
              x: x1 * SIZE,
              width: Math.max(x2 - x1, 0.002) * SIZE,
              y: (1 - y2) * SIZE,
              height: Math.max(y2 - y1, 0.002) * SIZE,
            },
            s("title", {}, `rule ${number}`),
          );
        return [box(a, d, e, i, "ends"), box(b, c, f, g, "core")];
      });
  }

  function nearestTo(event) {
    const frame = picture.getBoundingClientRect();
    const unit = (SIZE + 12) / frame.width;
    const [px, py] = [(event.clientX - frame.left) * unit - 6, (event.clientY - frame.top) * unit - 6];
    const [x, y] = [places(across, 0), places(up, 1)];
    let [best, distance] = [null, REACH];
    for (const i of shown) {
      const far = Math.hypot(x(i) * SIZE - px, (1 - y(i)) * SIZE - py);
      if (far < distance) [best, distance] = [i, far];
    }
    return best;
  }
}

/** The two most important attributes with an order that rules use: on these, rules can be seen. */
function mainAttributes(facts) {
  return usedByRank(facts)
    .filter((j) => facts.model.attributes[j].kind !== "nominal")
    .slice(0, 2);
}

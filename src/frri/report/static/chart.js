/**
 * Small drawings: an attribute's distribution with a condition over it, bars, and a line.
 *
 * Distributions are drawn once per attribute as a symbol and used wherever they are needed.
 */

import { h, named, s } from "./dom.js";
import { boundsOf, percentText, rangeOf } from "./words.js";

/** Height of the bar that shows core and slopes, below the distribution. */
const BAR = 5;
const GAP = 3;

/**
 * The scale of an attribute: where its drawing begins and ends, in encoded values.
 *
 * @param {object} model
 * @param {object} facts
 * @returns {Map<string, {low: number, high: number, symbol: ?string}>}
 */
export function scalesOf(model, facts) {
  return new Map(
    model.attributes.map((attribute, j) => {
      const histogram = facts.attributes[j].histogram;
      const [low, high] = histogram ? [histogram.low, histogram.high] : span(model, attribute);
      return [attribute.name, { low, high, symbol: histogram ? `distribution-${j}` : null }];
    }),
  );
}

/** Where nothing is known about the values, the bounds in the rules must do. */
function span(model, attribute) {
  if (attribute.categories) return [-0.5, attribute.categories.length - 0.5];
  const [low, high] = rangeOf(attribute);
  if (Number.isFinite(low) && low < high && high < Infinity) return [low, high];
  const bounds = model.rules
    .flatMap((rule) => rule.if)
    .filter((condition) => condition.attribute === attribute.name)
    .flatMap(boundsOf)
    .filter(Number.isFinite);
  const least = Math.min(...bounds, Number.isFinite(low) ? low : Infinity);
  const most = Math.max(...bounds, Number.isFinite(high) ? high : -Infinity);
  if (!Number.isFinite(least)) return [0, 1];
  const margin = (most - least) / 4 || 1;
  return [least - margin, most + margin];
}

/**
 * All distributions as symbols, each 100 x 100 and stretched where it is used.
 *
 * @param {object} facts
 * @returns {SVGElement}
 */
export function distributionSymbols(facts) {
  const symbols = facts.attributes.map(({ histogram }, j) => {
    if (!histogram) return null;
    const frame = { id: `distribution-${j}`, viewBox: "0 0 100 100", preserveAspectRatio: "none" };
    return s("symbol", frame, stackedPaths(histogram.counts, facts));
  });
  return s(
    "svg",
    { class: "symbols", width: 0, height: 0, "aria-hidden": "true" },
    s("defs", {}, symbols),
  );
}

/** One path per class: stacked bars whose heights grow with the root of the number of rows. */
function stackedPaths(counts, facts) {
  const nBins = counts[0].length;
  const totals = counts[0].map((_, bin) => counts.reduce((sum, series) => sum + series[bin], 0));
  const most = Math.max(...totals);
  const width = 100 / nBins;
  const tops = totals.map(() => 100);
  return counts.map((series, k) => {
    const bars = series.map((count, bin) => {
      if (!count) return "";
      const height = (100 * Math.sqrt(totals[bin] / most) * count) / totals[bin];
      const bottom = tops[bin];
      tops[bin] -= height;
      const left = (bin * width).toFixed(2);
      return `M${left} ${bottom.toFixed(2)}v${(-height).toFixed(2)}h${(width + 0.1).toFixed(2)}v${height.toFixed(2)}z`;
    });
    return s("path", { class: seriesClass(facts, k, counts.length), d: bars.join("") });
  });
}

function seriesClass(facts, k, nSeries) {
  if (nSeries === 1 && facts.model.classes.length > 1) return "c-none";
  return k < facts.coloured.length ? `c-${k}` : "c-other";
}

/**
 * The name of the colour of a class.
 *
 * @param {object} facts
 * @param {number} position of the class
 * @returns {string}
 */
export function classColour(facts, position) {
  const k = facts.coloured.indexOf(position);
  return k < 0 ? "c-other" : `c-${k}`;
}

/**
 * A class with its colour.
 *
 * @param {object} store
 * @param {*} label
 * @returns {HTMLElement}
 */
export function classLabel(store, label) {
  const colour = classColour(store.facts, store.classIndex(label));
  return h("span", { class: "class" }, swatch(colour), named(label));
}

/**
 * A small field of colour.
 *
 * @param {string} colour
 * @returns {SVGElement}
 */
export function swatch(colour) {
  const frame = { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" };
  return s("svg", frame, s("rect", { class: colour, width: 10, height: 10, rx: 2.5 }));
}

/**
 * A condition over the distribution of its attribute: what lies outside is veiled, the slopes cut it
 * aslant, and a bar below shows core and slopes.
 *
 * @param {object} condition
 * @param {object} attribute
 * @param {object} scale
 * @param {number} [width]
 * @param {number} [height]
 * @returns {SVGElement}
 */
export function conditionChart(condition, attribute, scale, width = 120, height = 34) {
  const base = height - BAR - GAP;
  const frame = {
    class: "condition-chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const { veil, bar } = condition.values
    ? nominalShapes(condition, attribute, width, base)
    : numericShapes(condition, scale, width, base);
  return s(
    "svg",
    frame,
    background(scale, width, base),
    s("path", { class: "veil", d: veil }),
    rail(width, base),
    bar,
  );
}

/**
 * A distribution alone.
 *
 * @param {object} scale
 * @param {number} width
 * @param {number} height
 * @returns {SVGElement}
 */
export function valueChart(scale, width, height) {
  const frame = {
    class: "value-chart",
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  return s("svg", frame, background(scale, width, height));
}

function background(scale, width, height) {
  if (!scale.symbol) return s("rect", { class: "empty", width, height });
  return s("use", { href: `#${scale.symbol}`, width, height });
}

function rail(width, base) {
  return s("rect", { class: "rail", y: base + GAP + BAR / 2 - 0.5, width, height: 1 });
}

function numericShapes(condition, scale, width, base) {
  const place = (value) => {
    if (value === -Infinity) return 0;
    if (value === Infinity) return width;
    return ((value - scale.low) / (scale.high - scale.low)) * width;
  };
  const [a, b, c, d] = boundsOf(condition)
    .map(place)
    .map((x) => Math.min(Math.max(x, -9 * width), 10 * width));
  const inside = (x) => Math.min(Math.max(x, 0), width);
  // How high the membership is where the drawing begins and ends.
  const atLeft = clampedRise(a, b, 0);
  const atRight = clampedRise(-d, -c, -width);
  const y = (membership) => base * (1 - membership);
  const left = b > 0 ? `V${y(atLeft)}L${inside(a)} ${a > 0 ? base : y(atLeft)}L${inside(b)} 0` : "";
  const right =
    c < width ? `L${inside(d)} ${d < width ? base : y(atRight)}L${width} ${y(atRight)}V0` : "";
  const veil = `M0 0${left}L${inside(c)} 0${right}Z`;
  // A core too narrow to see still gets a mark.
  const core = [inside(b), Math.max(inside(c), inside(b) + 2)];
  const top = base + GAP;
  const middle = top + BAR / 2;
  const slopes = `M${inside(a)} ${middle}L${inside(b)} ${top}V${top + BAR}ZM${inside(d)} ${middle}L${inside(c)} ${top}V${top + BAR}Z`;
  const bar = s(
    "g",
    {},
    s("path", { class: "slope", d: slopes }),
    s("rect", { class: "core", x: core[0], y: top, width: core[1] - core[0], height: BAR, rx: 1 }),
  );
  return { veil, bar };
}

function clampedRise(from, to, x) {
  if (x >= to) return 1;
  return x <= from ? 0 : (x - from) / (to - from);
}

function nominalShapes(condition, attribute, width, base) {
  const step = width / attribute.categories.length;
  const allowed = new Set(condition.values);
  const veils = [];
  const bars = [];
  attribute.categories.forEach((category, i) => {
    const left = i * step;
    if (!allowed.has(category)) veils.push(`M${left} 0h${step}v${base}h${-step}z`);
    else {
      const gap = Math.min(1, step / 4);
      bars.push(
        s("rect", {
          class: "core",
          x: left + gap,
          y: base + GAP,
          width: step - 2 * gap,
          height: BAR,
          rx: 1,
        }),
      );
    }
  });
  return { veil: veils.join(""), bar: s("g", {}, bars) };
}

/**
 * A share as a bar.
 *
 * @param {number|null|undefined} share
 * @param {string} [colour]
 * @returns {SVGElement}
 */
export function shareBar(share, colour = "c-accent") {
  const frame = {
    class: "share",
    viewBox: "0 0 100 6",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const width = 100 * Math.min(Math.max(share ?? 0, 0), 1);
  return s(
    "svg",
    frame,
    s("rect", { class: "track", width: 100, height: 6 }),
    s("rect", { class: colour, width, height: 6 }),
  );
}

/**
 * Rows per class as one bar in parts, with a legend in words.
 *
 * @param {object} store
 * @param {number[]} support
 * @returns {HTMLElement}
 */
export function classBar(store, support) {
  const total = support.reduce((sum, count) => sum + count, 0);
  const frame = {
    class: "classes-bar",
    viewBox: "0 0 100 10",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const bar = s("svg", frame, s("rect", { class: "track", width: 100, height: 10 }));
  const present = support.map((count, c) => [c, count]).filter(([, count]) => count);
  let left = 0;
  for (const [c, count] of present) {
    const width = (100 * count) / total;
    bar.append(s("rect", { class: classColour(store.facts, c), x: left, width, height: 10 }));
    left += width;
  }
  const largest = present.length > 6 ? present.sort((a, b) => b[1] - a[1]) : present;
  const legend = largest
    .slice(0, 6)
    .map(([c, count]) =>
      h(
        "li",
        {},
        classLabel(store, store.facts.model.classes[c]),
        ` ${count.toLocaleString("en")} `,
        h("span", { class: "muted" }, percentText(count / total)),
      ),
    );
  if (largest.length > 6)
    legend.push(h("li", { class: "muted" }, `and ${largest.length - 6} more classes`));
  return h("div", { class: "classes-legend" }, bar, h("ul", {}, legend));
}

/**
 * Accuracy and coverage against the number of rules.
 *
 * @param {Array<{n_rules: number, accuracy: number, coverage: number}>} points
 * @returns {SVGElement}
 */
export function curveChart(points) {
  const [width, height, left, bottom, top, right] = [560, 240, 44, 30, 12, 82];
  const most = Math.max(...points.map((point) => point.n_rules), 1);
  const x = (n) => left + ((width - left - right) * n) / most;
  const y = (share) => top + (height - top - bottom) * (1 - share);
  const line = (key) =>
    points
      .map(
        (point, i) => `${i ? "L" : "M"}${x(point.n_rules).toFixed(1)} ${y(point[key]).toFixed(1)}`,
      )
      .join("");
  const last = points[points.length - 1];
  const apart = Math.abs(y(last.accuracy) - y(last.coverage)) < 15 ? 15 : 0;
  const lower = last.accuracy <= last.coverage ? "accuracy" : "coverage";
  const label = (key, text) =>
    s(
      "text",
      { class: `label ${key}`, x: x(most) + 8, y: y(last[key]) + 4 + (key === lower ? apart : 0) },
      text,
    );
  const ticks = [...new Set([0, Math.round(most / 2), most])];
  return s(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label":
        "Accuracy and coverage against the number of rules; the table below has the numbers",
    },
    [0, 0.25, 0.5, 0.75, 1]
      .map((share) => [
        s("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
        s(
          "text",
          { class: "tick", x: left - 8, y: y(share) + 4, "text-anchor": "end" },
          `${share * 100} %`,
        ),
      ])
      .flat(),
    ticks.map((n) =>
      s(
        "text",
        { class: "tick", x: x(n), y: height - 8, "text-anchor": "middle" },
        n === most ? `${n} rules` : String(n),
      ),
    ),
    s("path", { class: "line coverage", d: line("coverage") }),
    s("path", { class: "line accuracy", d: line("accuracy") }),
    s("circle", { class: "dot accuracy", cx: x(last.n_rules), cy: y(last.accuracy), r: 4 }),
    label("accuracy", "accuracy"),
    label("coverage", "coverage"),
  );
}

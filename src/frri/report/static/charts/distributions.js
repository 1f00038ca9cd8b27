/**
 * Scales of attributes, and their distributions: drawn once per attribute as a symbol and used wherever
 * they are needed.
 */

import { s, stretched } from "../core/dom.js";
import { fadingGradients } from "./rangeBar.js";
import { boundsOf, rangeOf, sum } from "../core/format.js";

const kept = new WeakMap();

/**
 * The scales of all attributes, worked out once.
 *
 * @param {object} store
 * @returns {Map<string, {low: number, high: number, symbol: ?string}>}
 */
export function scalesOnce(store) {
  if (!kept.has(store)) kept.set(store, scalesOf(store.facts.model, store.facts));
  return kept.get(store);
}

/**
 * The scale of an attribute: where its drawing begins and ends, in encoded values.
 *
 * @param {object} model
 * @param {object} facts
 * @returns {Map<string, {low: number, high: number, symbol: ?string}>}
 */
function scalesOf(model, facts) {
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
    const { counts } = histogram;
    const most = Math.max(...counts[0].map((_, bin) => sum(counts.map((series) => series[bin]))));
    const bars = stackedBars(counts, { most, width: 100, height: 100, gap: -0.1 }, (k) => seriesClass(facts, k, counts.length));
    return s("symbol", frame, bars);
  });
  return s(
    "svg",
    { class: "symbols", width: 0, height: 0, "aria-hidden": "true" },
    s("defs", {}, symbols, hatching()),
    fadingGradients(facts.coloured.length),
  );
}

/** Lines aslant, for what is decided wrongly. */
function hatching() {
  const frame = { id: "hatch", width: 4, height: 4, patternUnits: "userSpaceOnUse" };
  return s(
    "pattern",
    { ...frame, patternTransform: "rotate(45)" },
    s("rect", { class: "hatch-ground", width: 4, height: 4 }),
    s("rect", { class: "hatch-line", width: 1.6, height: 4 }),
  );
}

/**
 * One path per series: bars upon each other.
 *
 * @param {number[][]} counts by series, then bin; the first series is at the bottom
 * @param {{most: number, width: number, height: number, foot?: number, gap: number}} frame the count that fills the
 *   height, the size of the drawing, where it ends below, and what is left between two bars
 * @param {function(number): string} colour of a series
 * @returns {SVGElement[]}
 */
export function stackedBars(counts, { most, width, height, foot = height, gap }, colour) {
  const step = width / counts[0].length;
  const tops = counts[0].map(() => foot);
  const f = (value) => value.toFixed(2);
  return counts.map((series, k) => {
    const bars = series.map((count, bin) => {
      if (!count) return "";
      const bottom = tops[bin];
      tops[bin] -= (height * count) / most;
      return `M${f(bin * step)} ${f(bottom)}V${f(tops[bin])}h${f(step - gap)}V${f(bottom)}z`;
    });
    return s("path", { class: colour(k), d: bars.join("") });
  });
}

/** The name of the colour of a series of a distribution. */
function seriesClass(facts, k, nSeries) {
  if (nSeries === 1 && facts.model.classes.length !== 1) return "c-none";
  return k < facts.coloured.length ? `c-${k}` : "c-other";
}

/**
 * A distribution alone, stretched to its place.
 *
 * @param {object} scale
 * @param {string} extra its class
 * @returns {SVGElement}
 */
export function distribution(scale, extra) {
  const [width, height] = [100, 100];
  const content = scale.symbol
    ? s("use", { href: `#${scale.symbol}`, width, height })
    : s("rect", { class: "rail", y: 96, width, height: 4 });
  return stretched(extra, width, height, content);
}

/**
 * Scales of attributes, and their distributions: drawn once per attribute as a symbol and used wherever
 * they are needed.
 */

import { s } from "../core/dom.js";
import { fadingGradients } from "./rangeBar.js";
import { boundsOf, rangeOf } from "../core/format.js";

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
    return s("symbol", frame, stackedPaths(histogram.counts, facts));
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

/** One path per class: stacked bars, as high as there are rows. */
function stackedPaths(counts, facts) {
  const nBins = counts[0].length;
  const totals = counts[0].map((_, bin) => counts.reduce((sum, series) => sum + series[bin], 0));
  const most = Math.max(...totals);
  const width = 100 / nBins;
  const tops = totals.map(() => 100);
  return counts.map((series, k) => {
    const bars = series.map((count, bin) => {
      if (!count) return "";
      const height = (100 * count) / most;
      const bottom = tops[bin];
      tops[bin] -= height;
      const left = (bin * width).toFixed(2);
      return `M${left} ${bottom.toFixed(2)}v${(-height).toFixed(2)}h${(width + 0.1).toFixed(2)}v${height.toFixed(2)}z`;
    });
    return s("path", { class: seriesClass(facts, k, counts.length), d: bars.join("") });
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
  const frame = {
    class: extra,
    viewBox: "0 0 100 100",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const [width, height] = [100, 100];
  const content = scale.symbol
    ? s("use", { href: `#${scale.symbol}`, width, height })
    : s("rect", { class: "rail", y: 96, width, height: 4 });
  return s("svg", frame, content);
}

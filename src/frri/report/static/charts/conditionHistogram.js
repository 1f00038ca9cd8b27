/**
 * A condition over the rows: an outline of all of them, pale those that meet the rule's other conditions,
 * solid those that the rule covers. Heights are numbers of rows, and all three share one scale.
 */

import { classColour } from "./chart.js";
import { s } from "../core/dom.js";
import { placesOf, rangeBar } from "./rangeBar.js";
import { boundsOf, isStrict, show, whole, within } from "../core/format.js";
import { ownSeries } from "../model/kind.js";
import { endsOf } from "../model/ruleText.js";
import { stackedBars } from "./distributions.js";

const N_BINS = 24;
const [HEIGHT, TOP, FOOT] = [78, 14, 40];
/** The width of a chart, and where the bar below it begins. */
export const WIDTH = 280;
export const AXIS = HEIGHT + 4;

/** Numbers below the axis closer than this hide each other. */
const APART = 44;

/**
 * How many rows lie in each bin, and of which classes: of all, of those that meet the other conditions of
 * a rule, and of those that it covers.
 *
 * @param {object} store with rows
 * @param {object} rule
 * @param {number} k which of its conditions
 * @param {Uint8Array} cover the rows that the rule covers
 * @returns {{all: number[], meeting: number[][], covered: number[][]}} the last two by class, then bin
 */
export function countLayers(store, rule, k, cover) {
  const { model } = store.facts;
  const { rows, rowCache } = store;
  const j = model.attributes.findIndex(({ name }) => name === rule.if[k].attribute);
  const binOf = binning(store, j);
  const others = rule.if.length > 1 ? rowCache.memberships(rule).filter((_, i) => i !== k) : [];
  const bins = binOf.n;
  const all = new Array(bins).fill(0);
  const nClasses = rows.classes ? model.classes.length || store.facts.coloured.length : 1;
  const empty = () => Array.from({ length: nClasses }, () => new Array(bins).fill(0));
  const [meeting, covered] = [empty(), empty()];
  for (let i = 0; i < rows.n; i += 1) {
    const bin = binOf(rows.columns[j][i]);
    if (bin === null) continue;
    all[bin] += 1;
    const c = rows.classes ? rows.classes[i] : 0;
    if (others.every((column) => column[i] > 0)) meeting[c][bin] += 1;
    if (cover[i]) covered[c][bin] += 1;
  }
  return { all, meeting, covered };
}

function binning(store, j) {
  const attribute = store.facts.model.attributes[j];
  const { histogram } = store.facts.attributes[j];
  if (!histogram) return Object.assign(() => null, { n: 1 });
  const { low, high } = histogram;
  const n = histogram.counts[0].length || N_BINS;
  const place = (value) => {
    if (!Number.isFinite(value) || (attribute.categories && value < 0)) return null;
    const inside = within(value, low, high);
    return Math.min(Math.floor(((inside - low) / (high - low)) * n), n - 1);
  };
  return Object.assign(place, { n });
}

/**
 * @param {object} store
 * @param {object} entry the rule
 * @param {number} k which of its conditions
 * @param {object} scale of the attribute
 * @returns {SVGElement}
 */
export function conditionHistogram(store, { rule, cover }, k, scale) {
  const { facts } = store;
  const condition = rule.if[k];
  const attribute = facts.model.attributes.find(({ name }) => name === condition.attribute);
  const own = ownSeries(facts, rule);
  const layers = store.rows && scale.symbol ? countLayers(store, rule, k, cover) : null;
  const most = layers ? Math.max(...layers.all, 1) : 0;
  const colour = classColour(facts, own);
  const bar = rangeBar(condition, attribute, scale, colour);
  for (const [name, value] of [["x", 0], ["y", AXIS], ["width", WIDTH], ["height", 8]])
    bar.setAttribute(String(name), String(value));
  return s(
    "svg",
    { class: "layers", viewBox: `0 0 ${WIDTH} ${HEIGHT + FOOT}`, "aria-hidden": "true" },
    layers
      ? [
          stacks(layers.meeting, most, own, facts, "pale"),
          stacks(layers.covered, most, own, facts, "solid"),
          s("path", { class: "outline", d: outline(layers.all, most) }),
          s("text", { class: "tick", x: 0, y: 10 }, `${whole(most)} rows`),
        ]
      : s("rect", { class: "rail", y: HEIGHT - 1, width: WIDTH, height: 1 }),
    bar,
    labels(condition, attribute, scale, facts.model.semantics.clip),
  );
}

/** Bars of classes upon each other, the rule's own at the bottom. */
function stacks(counts, most, own, facts, extra) {
  const order = [...counts.keys()].sort((a, b) => Number(b === own) - Number(a === own) || a - b);
  const colour = (k) => (counts.length === 1 ? "c-none" : classColour(facts, order[k]));
  const frame = { most, width: WIDTH, height: HEIGHT - TOP, foot: HEIGHT, gap: 0.6 };
  return s("g", { class: extra }, stackedBars(order.map((c) => counts[c]), frame, colour));
}

function outline(all, most) {
  const width = WIDTH / all.length;
  const y = (count) => (HEIGHT - ((HEIGHT - TOP) * count) / most).toFixed(2);
  const steps = all.map((count) => `V${y(count)}h${width.toFixed(2)}`);
  return `M0 ${HEIGHT}${steps.join("")}V${HEIGHT}`;
}

/** Lowest and highest value on one line; where the condition holds fully and where it ends on the next. */
function labels(condition, attribute, scale, clip) {
  if (attribute.categories) return categoryLabels(attribute);
  const text = (x, y, content, extra) => {
    const anchor = x < 20 ? "start" : x > WIDTH - 20 ? "end" : "middle";
    return s("text", { class: extra, x, y, "text-anchor": anchor }, content);
  };
  const [a, b, c, d] = placesOf(condition, scale).map((share) => share * WIDTH);
  const [supportLow, coreLow, coreHigh, supportHigh] = boundsOf(condition);
  const [low, high] = endsOf(condition, attribute, clip);
  const core = (own, support) => show(attribute, isStrict(own, support) ? support : own);
  const marks = [
    Number.isFinite(coreLow) && { x: b, content: core(coreLow, supportLow), extra: "tick strong" },
    Number.isFinite(coreHigh) && { x: c, content: core(coreHigh, supportHigh), extra: "tick strong" },
    low?.isReached && { x: a, content: low.text, extra: "tick" },
    high?.isReached && { x: d, content: high.text, extra: "tick" },
  ].filter(Boolean);
  const placed = [];
  const line = HEIGHT + 24;
  const items = marks.map(({ x, content, extra }) => {
    const isClose = placed.some((other) => other.line === line && Math.abs(other.x - x) < APART);
    const mine = isClose ? line + 13 : line;
    placed.push({ x, line: mine });
    return text(x, mine, content, extra);
  });
  const ends = [
    [0, scale.low],
    [WIDTH, scale.high],
  ].map(([x, value]) => {
    const isTaken = placed.some((other) => other.line === line && Math.abs(other.x - x) < APART);
    return isTaken ? null : text(x, line, show(attribute, value), "tick faint");
  });
  return [...items, ...ends];
}

function categoryLabels({ categories }) {
  const step = WIDTH / categories.length;
  if (step < 24) return null;
  const most = Math.floor(step / 6);
  return categories.map((name, i) =>
    s(
      "text",
      { class: "tick", x: (i + 0.5) * step, y: HEIGHT + 24, "text-anchor": "middle" },
      name.length > most ? `${name.slice(0, Math.max(most - 1, 1))}…` : name,
    ),
  );
}

/** Small drawings: classes and their colours, bars, and a line. */

import { h, named, s, span, stretched } from "../core/dom.js";
import { kindOf, levelOf, ownSeries, saidText, shownNumber } from "../model/kind.js";
import { percentText, signedText, sum, whole, within } from "../core/format.js";
import { wilson } from "../model/measures.js";

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
  return span("class", swatch(colour), named(label));
}

/**
 * What is answered, with its colour: a class or a number.
 *
 * @param {object} store
 * @param {*} answer
 * @returns {HTMLElement}
 */
export function answerLabel(store, answer) {
  const { facts } = store;
  if (!kindOf(facts.model).isNumber) return classLabel(store, answer);
  const colour = classColour(facts, levelOf(facts, answer));
  return span("class", swatch(colour), named(shownNumber(facts, answer)));
}

/**
 * What a rule says, with its colour: a class, at least or at most one, by how much it moves the answer, or a
 * number.
 *
 * @param {object} store
 * @param {object} rule
 * @returns {HTMLElement}
 */
export function ruleLabel(store, rule) {
  const { model } = store.facts;
  const position = ownSeries(store.facts, rule);
  const { isNumber, moves, addsVotes } = kindOf(model);
  const said = isNumber || moves ? saidText(model, rule) : model.classes[position];
  const votes = rule.votes ?? [1];
  const vote = addsVotes ? span("muted", signedText(rule.weight * Math.max(...votes))) : null;
  const sign = { "at least": "≥ ", "at most": "≤ " }[rule.relation] ?? "";
  return h(
    "span",
    "class",
    swatch(classColour(store.facts, position)),
    sign ? span("relation", sign) : null,
    named(said),
    vote,
  );
}

/** A small field of colour. */
function swatch(colour) {
  const frame = { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" };
  return s("svg", frame, s("rect", { class: colour, width: 10, height: 10, rx: 2.5 }));
}

/**
 * A share as a bar.
 *
 * @param {number|null|undefined} share
 * @param {string} [colour]
 * @returns {SVGElement}
 */
export function shareBar(share, colour = "c-accent") {
  const width = 100 * within(share ?? 0, 0, 1);
  return stretched("share", 100, 6, s("rect", { class: "track", width: 100, height: 6 }), s("rect", { class: colour, width, height: 6 }));
}

/**
 * How many rows a rule decides, as a bar; those decided wrongly are hatched.
 *
 * @param {number} share of all rows
 * @param {number} right share of those that are decided rightly
 * @param {string} colour
 * @returns {SVGElement}
 */
export function decidedBar(share, right, colour) {
  const bar = shareBar(share * right, colour);
  const width = 100 * share * (1 - right);
  if (width > 0)
    bar.append(s("rect", { class: "hatched", x: 100 * share * right, width, height: 6 }));
  return bar;
}

/**
 * Rows per class as one bar in parts, with a legend in words.
 *
 * @param {object} store
 * @param {number[]} support
 * @returns {HTMLElement}
 */
export function classBar(store, support) {
  const total = sum(support);
  const bar = stretched("classes-bar", 100, 10, s("rect", { class: "track", width: 100, height: 10 }));
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
        ` ${whole(count)} `,
        span("muted", percentText(count / total)),
      ),
    );
  if (largest.length > 6)
    legend.push(h("li", "muted", `and ${largest.length - 6} more classes`));
  return h("div", "classes-legend", bar, h("ul", {}, legend));
}

/**
 * A share of rows with its 95 % interval.
 *
 * @param {number} hits
 * @param {number} rows
 * @returns {Array|string}
 */
export function rate(hits, rows) {
  if (!rows) return "–";
  const [low, high] = wilson(hits, rows);
  return [span("", percentText(hits / rows)), span("muted interval", `${Math.round(100 * low)}–${Math.round(100 * high)}`)];
}

/** From the base to the answer: what each column, or columns that rules use together, add with the values of a row. */

import { h, named, s, span, stretched } from "../core/dom.js";
import { attributesByName, counted, showValue, signedText, sum } from "../core/format.js";
import { kindOf, shownMove, shownNumber } from "../model/kind.js";

const MOST_STEPS = 6;

/**
 * @param {object} store
 * @param {object} explained what explanationOf returned, for rules that add up
 * @returns {HTMLElement}
 */
export function contributionBars({ facts }, { model, values, total, base, added }) {
  const { isNumber, moves } = kindOf(model);
  const text = isNumber ? (value) => shownMove(facts, value) : signedText;
  const endText = isNumber ? (value) => shownNumber(facts, value) : signedText;
  const steps = groupsOf(model, values, added).sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const shown = steps.slice(0, MOST_STEPS);
  const rest = steps.slice(MOST_STEPS);
  if (rest.length) shown.push({ name: counted(rest.length, "other"), by: sum(rest.map(({ by }) => by)) });
  let reached = base;
  const bars = shown.map(({ name, by }) => {
    const from = reached;
    reached += by;
    return { name, by, from, to: reached, isEnd: false, isTotal: false };
  });
  const origin = isNumber ? base : 0;
  const end = (name, by, extra = {}) => ({ name, by, from: isNumber ? by : origin, to: by, isEnd: true, isTotal: false, ...extra });
  if (!moves) bars.unshift(end("base", base));
  bars.push(end(isNumber ? "prediction" : moves ? "sum" : "lead", total, { isTotal: true }));
  const ends = [origin, ...bars.flatMap(({ from, to }) => [from, to])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (value) => (100 * (value - low)) / (high - low || 1);
  return h(
    "ol",
    "contributions",
    bars.map(({ name, by, from, to, isEnd, isTotal }) => {
      const [left, right] = [Math.min(from, to), Math.max(from, to)].map(x);
      const colour = isTotal ? "c-accent" : by < 0 ? "against" : "in-favour";
      return h(
        "li",
        { class: isTotal ? "total" : null },
        span("name", name),
        stretched(
          "",
          100,
          10,
          s("rect", { class: "zero", x: x(origin) - 0.15, width: 0.3, height: 10 }),
          s("rect", { class: colour, x: Math.min(left, 99), width: Math.max(right - left, 1), y: 1, height: 8 }),
        ),
        span("number", (isEnd ? endText : text)(by)),
      );
    }),
  );
}

/** Contributions by the columns that rules use, each with the value of the row; those of 0 are left out. */
function groupsOf(model, values, added) {
  const attributes = attributesByName(model);
  const groups = new Map();
  model.rules.forEach((rule, r) => {
    if (!added[r]) return;
    const names = [...new Set(rule.if.map(({ attribute }) => attribute))].sort();
    const key = JSON.stringify(names);
    if (!groups.has(key)) groups.set(key, { names, by: 0 });
    groups.get(key).by += added[r];
  });
  return [...groups.values()].map(({ names, by }) => {
    const shown = names.map((name) => {
      const attribute = attributes.get(name);
      return [named(name), " = ", named(showValue(attribute, values[model.attributes.indexOf(attribute)]))];
    });
    return { name: shown.length ? shown.flatMap((parts, k) => (k ? [", ", ...parts] : parts)) : "always", by };
  });
}

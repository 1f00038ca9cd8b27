/**
 * From the base to the answer: what the base and every rule add to the lead of the class decided for, or to a
 * number.
 */

import { h, s } from "../core/dom.js";
import { counted, signedText } from "../core/format.js";

const MOST_STEPS = 10;

/**
 * @param {object} store
 * @param {{lead: number, base: number, added: number[]}} lead
 * @param {number[]} held degrees of the rules
 * @param {{total: string, origin: ?number, endText: function(number): string,
 *   text: function(number): string}} [shown] what the sum is called, where the bars of both ends begin (null: they
 *   are marks), and how ends and steps are written
 * @returns {HTMLElement}
 */
export function waterfall(
  store,
  lead,
  held,
  shown = { total: "lead", origin: 0, endText: signedText, text: signedText },
) {
  const { total, origin, endText, text } = shown;
  const { entries } = store.state;
  const steps = lead.added
    .map((by, r) => ({ name: `rule ${entries[r].number}`, by }))
    .filter((_, r) => held[r] > 0)
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const largest = steps.slice(0, MOST_STEPS);
  const rest = steps.slice(MOST_STEPS).reduce((sum, { by }) => sum + by, 0);
  const all = [
    ...largest,
    ...(steps.length > MOST_STEPS ? [{ name: counted(steps.length - MOST_STEPS, "other"), by: rest }] : []),
  ];
  let sum = lead.base;
  const bars = all.map(({ name, by }) => {
    const from = sum;
    sum += by;
    return { name, by, from, to: sum };
  });
  const end = (by) => ({ by, from: origin ?? by, to: by, isEnd: true });
  bars.unshift({ name: "base", ...end(lead.base) });
  bars.push({ name: total, ...end(lead.lead), isTotal: true });
  const ends = bars.flatMap(({ from, to }) => [from, to]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (value) => (100 * (value - low)) / (high - low || 1);
  return h(
    "ol",
    { class: "waterfall" },
    bars.map(({ name, by, from, to, isEnd, isTotal }) => {
      const [left, right] = [Math.min(from, to), Math.max(from, to)].map(x);
      const colour = isTotal ? "c-accent" : by < 0 ? "against" : "in-favour";
      return h(
        "li",
        { class: isTotal ? "total" : null },
        h("span", {}, name),
        s(
          "svg",
          { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
          s("rect", { class: "zero", x: x(origin ?? lead.base) - 0.15, width: 0.3, height: 10 }),
          s("rect", { class: colour, x: Math.min(left, 99), width: Math.max(right - left, 1), y: 1, height: 8 }),
        ),
        h("span", { class: "number" }, (isEnd ? endText : text)(by)),
      );
    }),
  );
}

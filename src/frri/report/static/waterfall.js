/** From the base to the answer: what the base and every rule add to the lead of the class decided for. */

import { h, s } from "./dom.js";
import { signedText } from "./words.js";

const MOST_STEPS = 10;

/**
 * @param {object} store
 * @param {{second: *, lead: number, base: number, added: number[]}} lead
 * @param {number[]} held degrees of the rules
 * @returns {HTMLElement}
 */
export function waterfall(store, lead, held) {
  const { entries } = store.state;
  const steps = lead.added
    .map((by, r) => ({ name: `rule ${entries[r].number}`, by }))
    .filter((_, r) => held[r] > 0)
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const shown = steps.slice(0, MOST_STEPS);
  const rest = steps.slice(MOST_STEPS).reduce((sum, { by }) => sum + by, 0);
  const all = [
    { name: "base", by: lead.base },
    ...shown,
    ...(steps.length > MOST_STEPS ? [{ name: `${steps.length - MOST_STEPS} others`, by: rest }] : []),
  ];
  let sum = 0;
  const bars = all.map(({ name, by }) => {
    const from = sum;
    sum += by;
    return { name, by, from, to: sum };
  });
  bars.push({ name: "lead", by: lead.lead, from: 0, to: lead.lead, isTotal: true });
  const ends = bars.flatMap(({ from, to }) => [from, to]);
  const [low, high] = [Math.min(...ends, 0), Math.max(...ends, 0)];
  const x = (value) => (100 * (value - low)) / (high - low || 1);
  return h(
    "ol",
    { class: "waterfall" },
    bars.map(({ name, by, from, to, isTotal }) => {
      const [left, right] = [Math.min(from, to), Math.max(from, to)].map(x);
      const colour = isTotal ? "c-accent" : by < 0 ? "against" : "in-favour";
      return h(
        "li",
        { class: isTotal ? "total" : null },
        h("span", {}, name),
        s(
          "svg",
          { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
          s("rect", { class: "zero", x: x(0) - 0.15, width: 0.3, height: 10 }),
          s("rect", { class: colour, x: left, width: Math.max(right - left, 0.5), y: 1, height: 8 }),
        ),
        h("span", { class: "number" }, signedText(by)),
      );
    }),
  );
}

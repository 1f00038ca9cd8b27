/** The effect of each column as a curve: mean predictions, or mean probabilities of a class, along its range. */

import { scalesOnce } from "../charts/distributions.js";
import { card, h, labelled, muted, named, option, put, s } from "../core/dom.js";
import { percentText, show } from "../core/format.js";
import { effectOf } from "../model/effects.js";
import { isCalibrated, kindOf, rarest, shownNumber } from "../model/kind.js";
import { usedByRank } from "../model/ranking.js";

const MOST_COLUMNS = 6;
const STEPS = 24;
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [260, 130, 46, 8, 20];

/**
 * @param {object} store
 * @returns {?HTMLElement} null without rows, or where one rule decides: effects are steps there
 */
export function effectsCard(store) {
  const { facts, rows, state } = store;
  const { isNumber, adds } = kindOf(facts.model);
  const columns = usedByRank(facts).slice(0, MOST_COLUMNS);
  if (!rows || !(isNumber || adds) || !columns.length) return null;
  const { classes } = facts.model;
  const chosen = h("select", { id: "effect-class", onchange: draw }, classes.map((label, c) => option(String(c), String(label))));
  chosen.value = String(kindOf(facts.model).isOrdered ? classes.length - 1 : rarest(facts.model));
  const place = h("ul", "effects-list");
  const curves = [];
  measure();
  return card(
    "Effect of each column",
    "wide",
    muted(`${isNumber ? "Mean prediction" : isCalibrated(facts.model) ? "Mean probability" : "Fraction of rows decided so"} as one column moves along its range, the others staying as they are.`),
    isNumber ? null : labelled("Class", chosen),
    place,
  );

  async function measure() {
    for (const j of columns) {
      const points = await effectOf(store, j, STEPS, () => store.state !== state);
      if (!points) return;
      curves.push([j, points]);
      draw();
    }
  }

  function draw() {
    const c = isNumber ? 0 : Number(chosen.value);
    const text = isNumber ? (value) => shownNumber(facts, value) : percentText;
    const means = curves.flatMap(([, points]) => points.map((point) => point.means[c]));
    const [low, high] = [Math.min(...means), Math.max(...means)];
    put(
      place,
      curves.map(([j, points]) => {
        const attribute = facts.model.attributes[j];
        const answers = points.map((point) => point.means[c]);
        const label = `${attribute.name}: between ${text(Math.min(...answers))} and ${text(Math.max(...answers))}`;
        return h("li", {}, h("b", {}, named(attribute.name)), drawing(attribute, points, c, { low, high, text, label }));
      }),
    );
  }

  function drawing(attribute, points, c, { low, high, text, label }) {
    const scale = scalesOnce(store).get(attribute.name);
    const x = (at) => LEFT + ((WIDTH - LEFT - 6) * (at - scale.low)) / (scale.high - scale.low);
    const y = (mean) => TOP + (HEIGHT - TOP - BOTTOM) * (high > low ? (high - mean) / (high - low) : 0.5);
    const { categories } = attribute;
    const d = points.map(({ at, means }, k) =>
      categories
        ? `M${x(at - 0.35).toFixed(1)} ${y(means[c]).toFixed(1)}H${x(at + 0.35).toFixed(1)}`
        : `${k ? "L" : "M"}${x(at).toFixed(1)} ${y(means[c]).toFixed(1)}`,
    );
    const tick = (attributes, content) => s("text", { class: "tick", ...attributes }, content);
    const ends = categories ? [categories[0], categories.at(-1)] : [scale.low, scale.high].map((value) => show(attribute, value));
    return s(
      "svg",
      { class: "effect", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      [low, high].map((mean) => [
        s("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(mean), y2: y(mean) }),
        tick({ x: LEFT - 4, y: y(mean) + 4, "text-anchor": "end" }, text(mean)),
      ]),
      s("path", { class: "line", d: d.join("") }),
      tick({ x: LEFT, y: HEIGHT - 4 }, ends[0].slice(0, 14)),
      tick({ x: WIDTH, y: HEIGHT - 4, "text-anchor": "end" }, ends[1].slice(0, 14)),
    );
  }
}

/**
 * The matrix: attributes are columns, ordered by importance, each with its distribution on top; a cell
 * shows where a rule's condition holds. Attributes that find no room, and those that no rule uses, are
 * folded away until they are chosen.
 */

import { classColour, ownSeries } from "../charts/chart.js";
import { h, isolated, named, put, sentence } from "../core/dom.js";
import { conditionParts, shortParts } from "../text/ruleText.js";
import { placesOf, rangeBar } from "../charts/rangeBar.js";
import { ranking } from "../model/ranking.js";
import { distribution, scalesOnce } from "../charts/distributions.js";
import { sidesOf } from "../text/conditionText.js";
import { allows, attributesByName, boundsOf, counted, numberText, show, widthOf, withMinus } from "../core/format.js";

/** Room for a column, and for what stands beside the attributes whatever rules are, in pixels. */
const COLUMN = 76;
const BESIDE = 320;
const FEWEST = 4;
/** Characters of a number at the end of an axis. */
const SHORT = 4;
/** On a narrow screen conditions stand below each other, and there is room for more. */
const NARROW = 768;
const MOST_NARROW = 40;

/**
 * Which attributes are columns.
 *
 * @param {object} store
 * @param {number} beside pixels that further columns take
 * @param {function(): void} changed
 */
export function matrixColumns(store, beside, changed) {
  const { attributes } = store.facts;
  const ranked = ranking(store.facts).map((j) => attributes[j]);
  const width = document.documentElement.clientWidth;
  const fits =
    width <= NARROW ? MOST_NARROW : Math.max(FEWEST, Math.floor((width - BESIDE - beside) / COLUMN));
  const chosen = new Set(ranked.filter((one) => one.n_rules).slice(0, fits).map(({ name }) => name));
  const summary = h("summary", {});
  const boxes = h("div", { class: "choices" });
  const element = h(
    "details",
    { class: "chooser" },
    summary,
    h("fieldset", { class: "chooser-box" }, h("legend", {}, "Columns, by importance"), boxes),
  );
  let drawn = false;
  element.addEventListener("toggle", () => {
    if (element.open && !drawn) put(boxes, ranked.map(box));
    drawn = true;
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    element.open = false;
    summary.focus();
  });
  describe();
  return {
    element,
    /** The attributes that are columns now, the most important first. */
    get shown() {
      return ranked.filter(({ name }) => chosen.has(name)).map(({ name }) => name);
    },
  };

  function box({ name, n_rules: uses }, k) {
    const input = h("input", { type: "checkbox", id: `column-${k}`, checked: chosen.has(name) });
    input.addEventListener("change", () => {
      if (input.checked) chosen.add(name);
      else chosen.delete(name);
      describe();
      changed();
    });
    const text = uses ? counted(uses, "rule") : "no rule";
    return h(
      "div",
      {},
      input,
      h("label", { for: input.id }, named(name), h("span", { class: "muted" }, ` ${text}`)),
    );
  }

  function describe() {
    summary.textContent = `Columns: ${chosen.size} of ${ranked.length}`;
  }
}

/**
 * The head of a column: name, distribution, ends of the axis that all its cells share.
 *
 * @param {object} store
 * @param {string} name
 * @param {HTMLElement} button with the name
 * @returns {Array}
 */
export function columnHead(store, name, button) {
  const attribute = attributesByName(store.facts.model).get(name);
  const scale = scalesOnce(store).get(name);
  return [
    button,
    distribution(scale, "head-chart"),
    h("span", { class: "axis" }, endsOf(attribute, scale).map((end) => h("span", { title: end.whole }, named(end.short)))),
  ];
}

/** The ends of an axis: numbers to as many digits as are short, dates to the month; of categories without an order, how many. */
function endsOf(attribute, { low, high }) {
  const { categories } = attribute;
  if (categories && attribute.kind === "nominal" && categories.length > 2)
    return [{ whole: categories.join(", ").slice(0, 400), short: counted(categories.length, "value") }];
  if (categories) return [categories[0] ?? "", categories.at(-1) ?? ""].map((whole) => ({ whole, short: whole }));
  return [low, high].map((value) => {
    const whole = show(attribute, value);
    if (attribute.kind === "date") return { whole, short: whole.slice(0, 7) };
    const texts = [numberText(value, widthOf(attribute)), value.toPrecision(3), value.toPrecision(2)].map(Number).map(String);
    const short = texts.find((text) => text.length <= SHORT) ?? (Math.abs(value) < 100 ? texts[2] : texts[0]);
    return { whole, short: withMinus(short) };
  });
}

/**
 * The cell of a rule in a column; empty where the rule has no condition on the attribute.
 *
 * @param {object} store
 * @param {object} rule
 * @param {string} name
 * @returns {HTMLElement}
 */
export function matrixCell(store, rule, name) {
  const { model } = store.facts;
  const conditions = rule.if.filter((condition) => condition.attribute === name);
  const cell = h("td", { role: "cell", class: conditions.length ? "cell" : "cell none" });
  if (!conditions.length) return cell;
  const attribute = attributesByName(model).get(name);
  const scale = scalesOnce(store).get(name);
  const colour = classColour(store.facts, ownSeries(store.facts, rule));
  cell.title = conditions
    .map((condition) => isolated(conditionParts(condition, attribute, model.semantics.clip)))
    .join(" and ")
    .slice(0, 400);
  cell.append(
    h("span", { class: "cell-name" }, named(name)),
    ...joined(conditions).map((condition) => rangeBar(condition, attribute, scale, colour)),
    h(
      "span",
      { class: "cell-words" },
      joined(conditions).map((condition) => words(condition, attribute, model.semantics.clip)),
    ),
  );
  return cell;
}

/** Conditions from both sides as one, so that they are one bar; where they hold fully nowhere, they stay apart. */
function joined(conditions) {
  if (conditions.length < 2 || conditions.some(({ trapezoid }) => !trapezoid)) return conditions;
  const bounds = conditions.map(boundsOf);
  const [a, b] = [0, 1].map((k) => Math.max(...bounds.map((one) => one[k])));
  const [c, d] = [2, 3].map((k) => Math.min(...bounds.map((one) => one[k])));
  const open = (value) => (Number.isFinite(value) ? value : null);
  return b <= c ? [{ ...conditions[0], trapezoid: [a, b, c, d].map(open) }] : conditions;
}

/** Both numbers in a few characters: where the condition holds fully, and where not at all. */
function words(condition, attribute, clip) {
  const short = sentence(shortParts(condition, attribute));
  if (condition.values || attribute.categories) return h("span", {}, short);
  const [low, high] = sidesOf(condition, attribute, clip);
  const ends = [low && low.end !== null && `< ${low.end}`, high && high.end !== null && `> ${high.end}`].filter(Boolean);
  return [h("span", {}, short), ends.length ? h("span", {}, `not ${ends.join(", ")}`) : null];
}

/**
 * Conditions on attributes that are no columns, as a number with the phrases behind it.
 *
 * @param {object} store
 * @param {object} rule
 * @param {Set<string>} shown attributes that are columns
 * @returns {HTMLElement}
 */
export function restCell(store, rule, shown) {
  const { model } = store.facts;
  const attributes = attributesByName(model);
  const rest = rule.if.filter((condition) => !shown.has(condition.attribute));
  const phrases = rest.map((condition) =>
    isolated(conditionParts(condition, attributes.get(condition.attribute), model.semantics.clip)),
  );
  return h(
    "td",
    { role: "cell", class: "col-rest", title: phrases.join(" and ").slice(0, 400) },
    rest.length ? `+${rest.length}` : "",
  );
}

/**
 * Where the condition on an attribute lies, to order rules by; null without one.
 *
 * @param {object} store
 * @param {object} rule
 * @param {string} name
 * @returns {?number}
 */
export function placeOf(store, rule, name) {
  const condition = rule.if.find((one) => one.attribute === name);
  if (!condition) return null;
  if (condition.values) {
    const { categories } = attributesByName(store.facts.model).get(name);
    const place = categories.findIndex((category) => allows(condition, category));
    return place < 0 ? categories.length : place;
  }
  const [, low, high] = placesOf(condition, scalesOnce(store).get(name));
  return (low + high) / 2;
}

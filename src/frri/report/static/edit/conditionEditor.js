/**
 * The conditions of a rule as form fields: bounds, allowed values, and a choice of further attributes.
 */

import { actionButton, h, labelled, named, option } from "../core/dom.js";
import { complaint, freshCondition } from "./ruleEdits.js";
import { addHandles, follow } from "./boundHandles.js";
import { conditionHistogram } from "../charts/conditionHistogram.js";
import { parseValue } from "../whatIf/parseRow.js";
import { scalesOnce } from "../charts/distributions.js";
import { attributesByName, boundsOf, show, typedValue } from "../core/format.js";

const BOUNDS = ["begins", "holds from", "holds to", "ends"];
const MOST_VALUES = 60;

/**
 * The fields of one condition.
 *
 * @param {object} store
 * @param {object} entry the rule
 * @param {number} k which of its conditions
 * @param {object} told
 * @param {function(object[], string): void} told.change takes the rule's new conditions, and what was done
 * @param {function(object[]): void} told.tried takes conditions that are not settled yet
 * @param {function(string, ?Element): void} told.fail takes a complaint and the field that it is about
 * @returns {HTMLElement}
 */
export function conditionEditor(store, entry, k, { change, tried, fail }) {
  const { number, rule } = entry;
  const condition = rule.if[k];
  const attribute = attributesByName(store.facts.model).get(condition.attribute);
  const replace = (next, label) =>
    change(
      rule.if.map((one, i) => (i === k ? next : one)),
      label,
    );
  const title = `Rule ${number}: ${attribute.name}`;
  const scale = scalesOnce(store).get(attribute.name);
  const chart = conditionHistogram(store, entry, k, scale);
  if (condition.trapezoid && !attribute.categories)
    addHandles(chart, condition, attribute, scale, {
      moved: (trapezoid) => tried(rule.if.map((one, i) => (i === k ? { ...condition, trapezoid } : one))),
      dropped: (trapezoid, i) =>
        replace(
          { ...condition, trapezoid },
          `${title} ${BOUNDS[i]} ${show(attribute, trapezoid[i])}`,
        ),
    });
  return h(
    "li",
    "condition",
    h("p", "condition-name", named(attribute.name)),
    chart,
    condition.values
      ? valueChoices(condition, attribute, `${number}-${k}`, replace, title, fail)
      : boundInputs(condition, attribute, `${number}-${k}`, replace, title, fail),
    actionButton(
      "Drop",
      () => change(rule.if.filter((_, i) => i !== k), `${title} dropped`),
      "",
      `Drop the condition on ${attribute.name}`,
    ),
  );
}

/** The four bounds; only the one that is typed into changes, the others keep all their digits. */
function boundInputs(condition, attribute, id, replace, title, fail) {
  const exact = boundsOf(condition);
  const inputs = exact.map((bound, i) => {
    const input = h("input", {
      type: "text",
      id: `bound-${id}-${i}`,
      value: Number.isFinite(bound) ? typedValue(attribute, bound) : "",
      placeholder: "open",
      autocomplete: "off",
    });
    input.addEventListener("change", () => {
      const trapezoid = condition.trapezoid.slice();
      try {
        const value = parseValue(attribute, input.value);
        trapezoid[i] =
          value === null
            ? null
            : typeof value === "string"
              ? attribute.categories.indexOf(value)
              : value;
      } catch (problem) {
        fail(problem.message, input);
        return;
      }
      follow(trapezoid, exact, i);
      const wrong = complaint(trapezoid);
      if (wrong) fail(wrong, input);
      else
        replace(
          { ...condition, trapezoid },
          `${title} ${BOUNDS[i]} ${input.value.trim() || "nowhere"}`,
        );
    });
    return labelled(BOUNDS[i], input);
  });
  return h("div", "bounds", inputs);
}

function valueChoices(condition, attribute, id, replace, title, fail) {
  const listed = new Set(condition.values);
  const shown = attribute.categories.length > MOST_VALUES ? condition.values : attribute.categories;
  return h(
    "fieldset",
    "choices",
    h("legend", {}, condition.excludes ? "is none of" : "is one of"),
    shown.map((category, i) => {
      const box = h("input", {
        type: "checkbox",
        id: `value-${id}-${i}`,
        checked: listed.has(category),
      });
      box.addEventListener("change", () => {
        const values = attribute.categories.filter((one) =>
          one === category ? box.checked : listed.has(one),
        );
        if (values.length) replace({ ...condition, values }, `${title}: other values`);
        else {
          box.checked = true;
          const done = condition.excludes ? "excluded" : "allowed";
          fail(`One value at least must be ${done}; drop the condition instead.`, null);
        }
      });
      return h("div", {}, box, h("label", { for: box.id }, named(category)));
    }),
  );
}

/**
 * A choice of the attributes that a rule has no condition on yet.
 *
 * @param {object} model
 * @param {object} entry the rule
 * @param {function(object): void} add takes the new condition
 * @returns {?HTMLElement}
 */
export function conditionAdder(model, { number, rule }, add) {
  const taken = new Set(rule.if.map((condition) => condition.attribute));
  const free = model.attributes.filter(
    (attribute) =>
      !taken.has(attribute.name) && (attribute.kind !== "nominal" || attribute.categories.length),
  );
  if (!free.length) return null;
  const choice = h(
    "select",
    { id: `add-${number}` },
    free.map(({ name }, i) => option(String(i), name)),
  );
  return h(
    "div",
    "adder",
    labelled("Further condition on", choice, "grow"),
    actionButton("Add condition", () => add(freshCondition(free[Number(choice.value)]))),
  );
}

/** The form that changes a rule, inside the opened rule: what it says, its weight, its conditions. */

import { h, labelled, named, option } from "../core/dom.js";
import { kindOf, saidNumber } from "../model/kind.js";
import { conditionAdder, conditionEditor } from "./conditionEditor.js";
import { withChanges } from "./ruleEdits.js";

/**
 * @param {object} store
 * @param {object} entry
 * @param {object} told
 * @param {function(number, function, string): Promise} told.step makes a change
 * @param {function(number, object[]): void} told.tried shows what conditions would do that are not settled yet
 * @returns {HTMLElement}
 */
export function ruleEditor(store, entry, { step, tried }) {
  const { model } = store.facts;
  const { number, rule } = entry;
  const { isNumber, addsNumbers, addsVotes, moves } = kindOf(model);
  const error = h("p", { class: "error", role: "alert" });
  const change = (changes, label) => step(number, (current) => withChanges(current, changes(current)), label);
  const conditions = (next, label) => change(() => ({ if: next }), label);
  return h(
    "div",
    "editor",
    error,
    h(
      "div",
      "consequent",
      isNumber ? numberField() : moves ? null : classField(),
      addsNumbers ? null : weightField(),
    ),
    h(
      "ul",
      "conditions",
      rule.if.map((_, k) =>
        conditionEditor(store, entry, k, { change: conditions, fail, tried: (next) => tried(number, next) }),
      ),
    ),
    conditionAdder(model, entry, (condition) =>
      conditions([...rule.if, condition], `Rule ${number}: a condition on ${condition.attribute}`),
    ),
  );

  function classField() {
    const then = h(
      "select",
      { id: `then-${number}` },
      model.classes.map((label, c) => option(String(c), String(label))),
    );
    then.value = String(store.classIndex(rule.then));
    then.addEventListener("change", () =>
      change(() => ({ then: model.classes[Number(then.value)] }), `Rule ${number}: another class`),
    );
    const relation = rule.relation && rule.relation !== "is" ? rule.relation : "";
    return labelled(["Then ", named(model.target), ` is ${relation}`], then, "grow");
  }

  function weightField() {
    const name = addsVotes ? "Vote" : "Weight";
    const input = h("input", { type: "number", id: `weight-${number}`, min: 0, step: "any", value: Number(rule.weight.toPrecision(4)) });
    input.addEventListener("change", () => {
      const weight = input.valueAsNumber;
      if (weight >= 0 && weight < Infinity) change(() => ({ weight }), `Rule ${number}: ${name.toLowerCase()} ${weight}`);
      else fail(`The ${name.toLowerCase()} must be a number, 0 or more.`, input);
    });
    return labelled(name, input);
  }

  /** What a rule says or adds: a number. One that adds does so by its weight times what it says. */
  function numberField() {
    const input = h("input", { type: "number", id: `number-${number}`, step: "any", value: Number(saidNumber(model, rule).toPrecision(6)) });
    input.addEventListener("change", () => {
      const value = input.valueAsNumber;
      const saying = ({ weight }) => {
        if (!addsNumbers) return { then: value };
        return weight > 0 ? { then: value / weight } : { then: value, weight: 1 };
      };
      if (Number.isFinite(value)) change(saying, `Rule ${number}: number ${value}`);
      else fail("The number must be a number.", input);
    });
    return labelled(addsNumbers ? ["Adds to ", named(model.target)] : ["Then ", named(model.target), " is"], input);
  }

  function fail(message, input) {
    error.textContent = message;
    input?.setAttribute("aria-invalid", "true");
  }
}

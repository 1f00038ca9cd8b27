/**
 * Edit: change, remove or add rules; accuracy and coverage follow at once; every step can be undone
 * and the result downloaded.
 */

import { conditionAdder, conditionEditor } from "./conditions.js";
import {
  actionButton,
  announce,
  byId,
  h,
  isolated,
  keepingFocus,
  named,
  put,
  sentence,
} from "../core/dom.js";
import {
  exported,
  freshCondition,
  stretched,
  withChanges,
  writtenRule,
} from "./ruleEdits.js";
import { bothMetrics, changedList, effectTable, percentOf } from "./editEffect.js";
import { addsNumbers, predictsNumbers, saidNumber, shownNumber } from "../model/regression.js";
import { isOrdered, movesAnswer } from "../model/ordinal.js";
import { ruleParts } from "../text/ruleText.js";
import { attributesByName, counted, weightName } from "../core/format.js";

/**
 * @param {object} store
 * @param {object} actions
 * @returns {{look: function(): void}} to be called when it is looked at
 */
export function editView(store, actions) {
  const { model } = store.facts;
  const attributes = attributesByName(model);
  const isNumber = predictsNumbers(model);
  // What was downloaded last, or came with the page: leaving loses nothing.
  let downloaded = store.state.model;
  let trying = 0;
  let isFresh = false;
  let selected = store.state.entries[0]?.number ?? null;
  const picker = h("select", { id: "edit-rule", onchange: () => select(Number(picker.value)) });
  const editor = h("div", { class: "editor" });
  const error = h("p", { class: "error", role: "alert" });
  const effect = h("div", { class: "effect" });
  const steps = h("ol", { class: "history" });
  const changed = h("div", {});
  const author = h("input", { type: "text", id: "edit-author", autocomplete: "name" });
  const bar = byId("edit-bar");
  const undo = actionButton("Undo", store.undo);
  const redo = actionButton("Redo", store.redo);
  const reset = actionButton("Undo all", store.reset);
  put(
    byId("edit-view"),
    h(
      "div",
      { class: "edit" },
      h(
        "section",
        { class: "card" },
        h(
          "div",
          { class: "picker" },
          h("div", { class: "field grow" }, h("label", { for: "edit-rule" }, "Rule"), picker),
          actionButton("New rule", addRule),
        ),
        error,
        editor,
      ),
      h(
        "aside",
        { "aria-label": "Effect of the edits" },
        h("section", { class: "card", role: "status" }, h("h2", {}, "Effect"), effect),
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Steps"),
          steps,
          h("div", { class: "toolbar" }, undo, redo, reset),
        ),
        h("section", { class: "card" }, h("h2", {}, `Cases ${isNumber ? "predicted" : "decided"} otherwise`), changed),
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Result"),
          h(
            "div",
            { class: "field" },
            h("label", { for: "edit-author" }, "Your name, for the model’s log"),
            author,
          ),
          h("p", { class: "muted" }, "The model as JSON, for ", h("code", {}, "RuleSet.load"), "."),
          actionButton("Download model", download, "primary"),
        ),
      ),
    ),
  );
  window.addEventListener("keydown", (event) => {
    const typing =
      event.target instanceof Element && event.target.closest("input, textarea, select");
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || typing) return;
    event.preventDefault();
    if (event.shiftKey) store.redo();
    else store.undo();
  });
  window.addEventListener("beforeunload", (event) => {
    if (store.state.model !== downloaded) event.preventDefault();
  });
  store.subscribe((_, about) => {
    if (about !== null && store.entry(about)) selected = about;
    refresh();
  });
  refresh();

  Object.assign(actions, {
    edit(number) {
      select(number);
      actions.showTab("edit");
      picker.focus();
    },
    remove: removeRule,
    stretch: (number, direction) => {
      return step(
        number,
        (rule) => stretched(rule, attributes, direction),
        `${direction > 0 ? "Loosened" : "Tightened"} rule ${number}`,
      );
    },
    download,
  });
  return { look };

  function select(number) {
    selected = number;
    isFresh = false;
    look();
  }

  async function step(number, change, label) {
    error.textContent = "";
    document.body.setAttribute("aria-busy", "true");
    const result = await store.apply(number, change, label);
    document.body.removeAttribute("aria-busy");
    announce(label);
    return result;
  }

  function removeRule(number) {
    return step(number, () => null, `Removed rule ${number}`);
  }

  async function addRule() {
    const { entries } = store.state;
    const weights = entries.map(({ rule }) => rule.weight).sort((a, b) => a - b);
    const weight = weights.length ? weights[Math.floor(weights.length / 2)] : 1;
    const usable = model.attributes.find(
      (attribute) => attribute.kind !== "nominal" || attribute.categories.length,
    );
    const rule = writtenRule(usable ? [freshCondition(usable)] : [], firstSaid(store.facts), weight);
    if (isOrdered(model) && !movesAnswer(model)) rule.relation = "at least";
    select(await step(null, () => rule, "Added a rule"));
    byId(movesAnswer(model) ? "edit-weight" : isNumber ? "edit-number" : "edit-then").focus();
  }

  /** The bar at once; the form when it is looked at. */
  function refresh() {
    editBar();
    isFresh = false;
    if (!byId("panel-edit").hidden) look();
  }

  function look() {
    if (isFresh) return;
    isFresh = true;
    const { entries } = store.state;
    if (!entries.some((entry) => entry.number === selected)) selected = entries[0]?.number ?? null;
    put(
      picker,
      entries.map((entry) => h("option", { value: entry.number }, shortTitle(entry))),
    );
    picker.disabled = !entries.length;
    if (selected !== null) picker.value = String(selected);
    error.textContent = "";
    keepingFocus(editor, () =>
      put(
        editor,
        selected === null
          ? h("p", { class: "muted" }, "There is no rule left to edit.")
          : ruleEditor(store.entry(selected)),
      ),
    );
    put(effect, effectTable(store));
    put(changed, changedList(store, actions));
    put(
      steps,
      store.history.length
        ? store.history.map(stepItem)
        : h("li", { class: "muted" }, "Nothing was edited yet."),
    );
    undo.disabled = !store.isEdited;
    reset.disabled = !store.isEdited;
    redo.disabled = !store.canRedo;
  }

  /** A step, and why it was done. */
  function stepItem({ label, reason }, k) {
    const input = h("input", {
      type: "text",
      id: `reason-${k}`,
      placeholder: "why?",
      value: reason,
      "aria-label": `Why: ${label}`,
    });
    input.addEventListener("change", () => store.explainStep(k, input.value.trim()));
    return h("li", {}, h("span", {}, label), input);
  }

  /** What a bound that is being moved would do, before it is let go. */
  async function tried(number, conditions) {
    trying += 1;
    const mine = trying;
    const { rule } = store.entry(number);
    const state = await store.preview(number, withChanges(rule, { if: conditions }));
    if (mine === trying) put(effect, effectTable(store, state));
  }

  function shortTitle({ number, rule }) {
    const text = `${number}: ${isolated(ruleParts(model, rule))}`;
    return text.length > 110 ? `${text.slice(0, 109)}…` : text;
  }

  /** A line at the foot of the page while the model differs from what was learned. */
  function editBar() {
    bar.hidden = !store.isEdited;
    document.body.classList.toggle("edited", store.isEdited);
    if (!store.isEdited) return;
    const [before, after] = bothMetrics(store);
    const figures = [`${counted(store.history.length, "edit")}`, `${counted(after.rules, "rule")}`];
    if (after.accuracy !== undefined)
      figures.push(`accuracy ${percentOf(before.accuracy)} → ${percentOf(after.accuracy)}`);
    if (after.mae !== undefined) {
      const [was, now] = [before, after].map(({ mae }) => shownNumber(store.facts, mae));
      figures.push(`off by ${was} → ${now}`);
    }
    put(
      bar,
      h("p", {}, figures.join(" · ")),
      actionButton("Undo", store.undo),
      actionButton("Download", download, "primary"),
    );
  }

  function ruleEditor(entry) {
    const { number, rule } = entry;
    const change = (conditions, label) =>
      step(number, (current) => withChanges(current, { if: conditions }), label);
    const then = h(
      "select",
      {
        id: "edit-then",
        onchange: () =>
          step(
            number,
            (current) => withChanges(current, { then: model.classes[Number(then.value)] }),
            `Rule ${number}: another class`,
          ),
      },
      model.classes.map((label, c) => h("option", { value: c }, String(label).slice(0, 80))),
    );
    then.value = String(store.classIndex(rule.then));
    const namesClass = !movesAnswer(model) && !isNumber;
    const weight = h("input", {
      type: "number",
      id: "edit-weight",
      min: 0,
      step: "any",
      value: Number(rule.weight.toPrecision(4)),
    });
    weight.addEventListener("change", () => {
      const value = weight.valueAsNumber;
      if (!(value >= 0 && value < Infinity))
        fail(`The ${name} must be a number, 0 or more.`, weight);
      else
        step(
          number,
          (current) => withChanges(current, { weight: value }),
          `Rule ${number}: ${name} ${value}`,
        );
    });
    const name = weightName(model).toLowerCase();
    const hasBounds = rule.if.some((condition) => condition.trapezoid);
    return [
      h("p", { class: "sentence" }, sentence(ruleParts(model, rule))),
      h(
        "div",
        { class: "toolbar" },
        hasBounds ? actionButton("Loosen all", () => actions.stretch(number, 1)) : null,
        hasBounds ? actionButton("Tighten all", () => actions.stretch(number, -1)) : null,
        actionButton("Remove rule", () => removeRule(number)),
      ),
      h(
        "div",
        { class: "consequent" },
        namesClass
          ? h(
              "div",
              { class: "field grow" },
              h("label", { for: "edit-then" }, "Then ", named(model.target), ` is ${rule.relation && rule.relation !== "is" ? rule.relation : ""}`),
              then,
            )
          : null,
        isNumber ? numberField(entry) : null,
        addsNumbers(model)
          ? null
          : h("div", { class: "field" }, h("label", { for: "edit-weight" }, weightName(model)), weight),
      ),
      h(
        "ul",
        { class: "conditions" },
        rule.if.map((_, k) =>
          conditionEditor(store, entry, k, {
            change,
            fail,
            tried: (conditions) => tried(number, conditions),
          }),
        ),
      ),
      conditionAdder(model, rule, (condition) =>
        change([...rule.if, condition], `Rule ${number}: a condition on ${condition.attribute}`),
      ),
    ];
  }

  /** What a rule says or adds: a number. */
  function numberField({ number, rule }) {
    const input = h("input", {
      type: "number",
      id: "edit-number",
      step: "any",
      value: Number(saidNumber(model, rule).toPrecision(6)),
    });
    input.addEventListener("change", () => {
      const value = input.valueAsNumber;
      if (Number.isFinite(value))
        step(number, (current) => withChanges(current, saying(model, current, value)), `Rule ${number}: number ${value}`);
      else fail("The number must be a number.", input);
    });
    const label = addsNumbers(model) ? ["Adds to ", named(model.target)] : ["Then ", named(model.target), " is"];
    return h("div", { class: "field" }, h("label", { for: "edit-number" }, label), input);
  }

  function fail(message, input) {
    error.textContent = message;
    input?.setAttribute("aria-invalid", "true");
  }

  function download() {
    downloaded = store.state.model;
    const content = `${JSON.stringify(exported(store, author.value.trim()), null, 1)}\n`;
    const url = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    const name =
      String(model.target)
        .replace(/[^\w-]+/g, "_")
        .slice(0, 60) || "model";
    const link = h("a", { href: url, download: `${name}${store.isEdited ? "-edited" : ""}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
}

/** A rule that adds a number does so by its weight times what it says. */
function saying(model, { weight }, value) {
  if (!addsNumbers(model)) return { then: value };
  return weight > 0 ? { then: value / weight } : { then: value, weight: 1 };
}

/** What a new rule says until it is told otherwise: of numbers, the middle, or a tenth of the range more. */
function firstSaid({ model, numbers }) {
  if (numbers) {
    const { low, high } = numbers;
    return Number((addsNumbers(model) ? (high - low) / 10 || 1 : (low + high) / 2).toPrecision(2));
  }
  if (movesAnswer(model)) return 1;
  return isOrdered(model) ? model.classes.at(-1) : model.classes[0];
}

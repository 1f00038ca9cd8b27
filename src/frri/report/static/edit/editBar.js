/**
 * Edits: rules are changed where they are shown; a bar at the foot of the page has their effect and their history,
 * which can be stepped through, and the edited model to download.
 */

import { actionButton, announce, byId, h, keepingFocus, labelled, option, put } from "../core/dom.js";
import { counted, percentText } from "../core/format.js";
import { kindOf, shownNumber } from "../model/kind.js";
import { metrics } from "../model/measures.js";
import { changedList, effectTable } from "./editEffect.js";
import { ruleEditor } from "./ruleEditor.js";
import { exported, freshCondition, withChanges } from "./ruleEdits.js";

/**
 * Set the bar up, and add what can be done to rules to the actions.
 *
 * @param {object} store
 * @param {object} actions
 */
export function editBar(store, actions) {
  const { model } = store.facts;
  // What was downloaded last, or came with the page: leaving loses nothing.
  let downloaded = store.state.model;
  let trying = 0;
  let isOpen = false;
  let against = 0;
  const bar = byId("edit-bar");
  const figures = h("p", { role: "status" });
  const undo = actionButton("Undo", store.undo);
  const redo = actionButton("Redo", store.redo);
  const opener = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "history", onclick: toggle }, "History");
  const history = h("div", { id: "history", class: "history", hidden: true });
  const author = h("input", { type: "text", id: "edit-author", autocomplete: "name" });
  put(bar, history, h("div", "bar-line", figures, undo, redo, opener, actionButton("Download model", download, "primary")));
  window.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || typing) return;
    event.preventDefault();
    if (event.shiftKey) store.redo();
    else store.undo();
  });
  window.addEventListener("beforeunload", (event) => {
    if (store.state.model !== downloaded) event.preventDefault();
  });
  store.subscribe(refresh);
  refresh();
  Object.assign(actions, {
    remove: (number) => step(number, () => null, `Removed rule ${number}`),
    ruleEditor: (entry) => ruleEditor(store, entry, { step, tried }),
    addRule,
    download,
  });

  async function step(number, change, label) {
    document.body.setAttribute("aria-busy", "true");
    const result = await store.apply(number, change, label);
    document.body.removeAttribute("aria-busy");
    announce(label);
    return result;
  }

  async function addRule() {
    const weights = store.state.entries.map(({ rule }) => rule.weight).sort((a, b) => a - b);
    const usable = model.attributes.find(({ kind, categories }) => kind !== "nominal" || categories.length);
    const { isOrdered, moves } = kindOf(model);
    const rule = {
      if: usable ? [freshCondition(usable)] : [],
      then: firstSaid(store.facts),
      weight: weights[Math.floor(weights.length / 2)] ?? 1,
      origin: "written",
      ...(isOrdered && !moves && { relation: "at least" }),
    };
    const number = await step(null, () => rule, "Added a rule");
    actions.openRule(number, true);
  }

  /** What a bound that is being moved would do, before it is let go. */
  async function tried(number, conditions) {
    trying += 1;
    const mine = trying;
    const { rule } = store.entry(number);
    const state = await store.preview(number, withChanges(rule, { if: conditions }));
    if (mine === trying) showFigures(state, "if you let go");
  }

  function refresh() {
    trying += 1;
    const hasSteps = store.isEdited || store.canRedo;
    bar.hidden = !hasSteps;
    document.body.classList.toggle("edited", hasSteps);
    if (!hasSteps) return;
    against = Math.min(against, store.steps.length);
    undo.disabled = !store.isEdited;
    redo.disabled = !store.canRedo;
    showFigures(store.state, counted(store.history.length, "edit"));
    if (isOpen) keepingFocus(history, drawHistory);
  }

  function showFigures(state, first) {
    bar.hidden = false;
    const [before, after] = [store.original, state].map((one) => metrics(one, store.rows));
    const parts = [first, counted(after.rules, "rule")];
    if (after.accuracy !== undefined) parts.push(`accuracy ${percentText(before.accuracy)} → ${percentText(after.accuracy)}`);
    if (after.mae !== undefined) {
      const [was, now] = [before, after].map(({ mae }) => shownNumber(store.facts, mae));
      parts.push(`mean absolute error ${was} → ${now}`);
    }
    figures.textContent = parts.join(" · ");
  }

  function toggle() {
    isOpen = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
    history.hidden = !isOpen;
    if (isOpen) drawHistory();
  }

  function drawHistory() {
    const compared = h(
      "select",
      { id: "compared-with", onchange: () => { against = Number(compared.value); drawHistory(); } },
      ["As learned", ...store.steps.map(({ label }, k) => `After step ${k + 1}: ${label}`)].map((text, k) => option(String(k), text)),
    );
    compared.value = String(against);
    const base = store.stateAt(against);
    put(
      history,
      h(
        "section",
        {},
        h("h2", {}, "Steps"),
        h("ol", {}, stepItem({ label: "As learned" }, -1), store.steps.map(stepItem)),
        labelled("Your name, for the model’s log", author),
      ),
      h("section", {}, h("h2", {}, "Effect"), labelled("Compared with", compared), effectTable(store, base)),
      h("section", {}, h("h2", {}, "Changed rows"), changedList(store, base, actions)),
    );
  }

  /** A step to go to, and why it was done. */
  function stepItem({ label, reason = "" }, k) {
    const isNow = k + 1 === store.current;
    const go = h("button", { type: "button", class: "link", "aria-current": isNow ? "step" : null, onclick: () => store.goTo(k + 1) }, label);
    if (k < 0) return h("li", {}, go);
    const input = h("input", { type: "text", id: `reason-${k}`, placeholder: "why?", value: reason, "aria-label": `Why: ${label}` });
    input.addEventListener("change", () => store.explainStep(k, input.value.trim()));
    return h("li", { class: k + 1 > store.current ? "undone" : null }, go, input);
  }

  function download() {
    downloaded = store.state.model;
    const content = `${JSON.stringify(exported(store, author.value.trim()), null, 1)}\n`;
    const url = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    const name = String(model.target).replace(/[^\w-]+/g, "_").slice(0, 60) || "model";
    const link = h("a", { href: url, download: `${name}${store.isEdited ? "-edited" : ""}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
}

/** What a new rule says until it is told otherwise: of numbers, the middle, or a tenth of the range more. */
function firstSaid({ model, numbers }) {
  const { addsNumbers, isOrdered, moves } = kindOf(model);
  if (numbers) {
    const { low, high } = numbers;
    return Number((addsNumbers ? (high - low) / 10 || 1 : (low + high) / 2).toPrecision(2));
  }
  if (moves) return 1;
  return isOrdered ? model.classes.at(-1) : model.classes[0];
}

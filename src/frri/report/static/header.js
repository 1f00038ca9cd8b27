/**
 * The head of the page: its figures follow the edits.
 */

import { byId } from "./dom.js";
import { editsOf } from "./editing.js";
import { metrics } from "./measures.js";
import { counted, decimal } from "./words.js";

/**
 * @param {object} store
 */
export function headerView(store) {
  const { rows, facts } = store;
  const figures = new Map();
  for (const element of document.querySelectorAll("[data-figure]")) {
    const [value, note] = element.querySelectorAll(".big, .note");
    const learned = [value.textContent, note.textContent];
    figures.set(element.dataset.figure, { value, note, learned });
  }
  const mark = byId("edited");
  const opening = byId("opening");
  const learnedOpening = opening.textContent;
  store.subscribe(refresh);

  function refresh() {
    mark.hidden = !editsOf(store.state.model);
    opening.textContent = learnedOpening;
    for (const { value, note, learned } of figures.values())
      [value.textContent, note.textContent] = learned;
    if (!store.isEdited) return;
    const [before, after] = [metrics(store.original, rows), metrics(store.state, rows)];
    const [nBefore, nAfter] = [before, after].map(({ rules }) => rules.toLocaleString("en"));
    show("rules", nAfter, `edited, was ${nBefore}`);
    show("conditions", after.rules ? decimal(after.conditions / after.rules) : "0");
    opening.textContent = `Edited: ${counted(after.rules, "rule")}, as learned ${nBefore}.`;
    if (after.accuracy === undefined) return;
    opening.textContent = `Edited: ${counted(after.rules, "rule")}, right on ${percent(after)} (was ${percent(before)}) of ${counted(rows.n, facts.data.sampled ? "embedded row" : "row")}.`;
    const basis = facts.data.sampled
      ? `of ${counted(rows.n, "embedded row")}`
      : figures.get("accuracy").learned[1];
    show("accuracy", percent(after), `was ${percent(before)}, ${basis}`);
  }

  function show(name, text, said) {
    const { value, note } = figures.get(name);
    value.textContent = text;
    if (said !== undefined) note.textContent = said;
  }
}

function percent({ accuracy }) {
  return `${decimal(100 * accuracy)} %`;
}

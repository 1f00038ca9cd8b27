/**
 * The head of the page: its figures and its picture follow the edits.
 */

import { roleOf } from "../model/contributions.js";
import { byId, put } from "../core/dom.js";
import { editsOf } from "../edit/ruleEdits.js";
import { SMALL, flowPicture, orderWords } from "../charts/flow.js";
import { metrics, performanceOf, recognisedText } from "../model/measures.js";
import { shownNumber } from "../model/regression.js";
import { counted, decimal } from "../core/format.js";

/** On narrower screens the picture is folded away until it is asked for. */
const WIDE = 1120;

/**
 * @param {object} store
 * @param {object} actions
 */
export function headerView(store, actions) {
  const { rows, facts } = store;
  const figures = new Map();
  for (const element of document.querySelectorAll("[data-figure]")) {
    const [value, note] = element.querySelectorAll(".big, .note");
    const learned = [value.textContent, note.textContent];
    figures.set(element.dataset.figure, { value, note, learned });
  }
  const embedded = facts.data?.sampled ? "embedded row" : "row";
  const mark = byId("edited");
  const opening = byId("opening");
  const learnedOpening = opening.textContent;
  store.subscribe(refresh);
  const glance = byId("glance");
  glance.open = document.documentElement.clientWidth >= WIDE;
  glance.addEventListener("toggle", draw);
  const { heading, past } = roleOf(facts.model);
  const hatched = rows && rows.classes && !rows.answers ? "; hatched: wrongly" : "";
  byId("glance-title").textContent = `${heading}: as wide as rows are ${past}${hatched}`;
  byId("glance-title").title = orderWords(facts);
  let drawn = null;
  draw();

  /** When it is looked at, of the rules as they are then. */
  function draw() {
    glance.hidden = !store.state.deciding;
    if (glance.hidden || !glance.open || drawn === store.state) return;
    drawn = store.state;
    put(byId("glance-picture"), flowPicture(store, actions, SMALL));
  }

  function refresh() {
    draw();
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
    if (after.mae !== undefined) {
      const [was, now] = [before, after].map(({ mae }) => shownNumber(facts, mae));
      opening.textContent = `Edited: ${counted(after.rules, "rule")}, off by ${now} on average (was ${was}) on ${counted(rows.n, embedded)}.`;
      show("off by", now, `was ${was}, on average of ${counted(rows.n, embedded)}`);
    }
    if (after.accuracy === undefined) return;
    opening.textContent = `Edited: ${counted(after.rules, "rule")}, right on ${percent(after)} (was ${percent(before)}) of ${counted(rows.n, embedded)}.`;
    const basis = facts.data.sampled
      ? `of ${counted(rows.n, embedded)}`
      : recognisedText(facts.model, performanceOf(store).confusion);
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

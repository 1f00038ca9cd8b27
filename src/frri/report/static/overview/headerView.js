/** The head of the page: how good the model is and what matters; both follow the edits. */

import { byId, put } from "../core/dom.js";
import { counted, percentText, whole } from "../core/format.js";
import { editsOf } from "../edit/ruleEdits.js";
import { shownNumber } from "../model/kind.js";
import { metrics } from "../model/measures.js";
import { importance } from "./importance.js";

const MOST_COLUMNS = 5;

/**
 * @param {object} store
 */
export function headerView(store) {
  const { rows, facts } = store;
  const embedded = facts.data?.sampled ? "embedded row" : "given row";
  const opening = byId("opening");
  const learned = opening.textContent;
  store.subscribe(refresh);
  refresh();

  function refresh() {
    const matters = importance(store, MOST_COLUMNS, true);
    byId("matters").hidden = !matters;
    put(byId("matters-list"), matters);
    byId("edited").hidden = !editsOf(store.state.model);
    opening.textContent = store.isEdited ? editedText() : learned;
  }

  function editedText() {
    const [before, after] = [store.original, store.state].map((state) => metrics(state, rows));
    const count = `Edited: ${counted(after.rules, "rule")}, as learned ${whole(before.rules)}`;
    if (after.mae !== undefined) {
      const [was, now] = [before, after].map(({ mae }) => shownNumber(facts, mae));
      return `${count}. Mean absolute error on ${counted(rows.n, embedded)}: ${now} (was ${was}).`;
    }
    if (after.accuracy === undefined) return `${count}.`;
    const [was, now] = [before, after].map(({ accuracy }) => percentText(accuracy));
    return `${count}. Accuracy on ${counted(rows.n, embedded)}: ${now} (was ${was}).`;
  }
}

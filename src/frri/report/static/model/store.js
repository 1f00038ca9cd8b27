/**
 * The model as it stands after the edits made so far, what it covers and decides, and the way back.
 *
 * A state is never changed, only followed by another one. Rules keep their number through all edits.
 *
 * @typedef {object} Entry   a rule of a state
 * @property {number} number           as shown: its place in the original model, from 1
 * @property {object} rule             its JSON
 * @property {object} known            its statistics, as in the facts
 * @property {?Uint8Array} cover       which embedded rows it covers
 *
 * @typedef {object} State
 * @property {Entry[]} entries
 * @property {object} model            the JSON of the whole model
 * @property {?Uint16Array} decided    class decided for each embedded row, or the level of its number
 * @property {?ArrayLike<number>} answers  number predicted for each embedded row, where rules predict such
 * @property {?Uint16Array} deciding   number of the rule that decided, 0 where none does; null where rules add up
 * @property {?Map<number, {rows: number, right: ?number, of: number}>} decides  for each rule how many
 *                                     rows it decides, how many correctly, and of how many
 * @property {?Uint16Array} counts     how many rules cover each embedded row
 * @property {string} label            what was done to get here
 */

import { withRules } from "../edit/ruleEdits.js";
import { kindOf, knowRange, levelOf, speaksFor } from "./kind.js";
import { readRows, size, unpack } from "./rows.js";
import { createRowCache } from "./rowCache.js";
import { forEachYielding } from "../core/yieldToUi.js";
import { sum } from "../core/format.js";

/**
 * @param {object} facts
 */
export function createStore(facts) {
  knowRange(facts);
  const rows = readRows(facts);
  const classIndex = new Map(facts.model.classes.map((label, c) => [label, c]));
  const rowCache = rows && createRowCache(facts.model, rows);
  const entries = facts.model.rules.map((rule, r) => ({
    number: r + 1,
    rule,
    known: { ...facts.rules[r], returns: facts.stability ? facts.stability.returns[r] : null },
    get cover() {
      return rowCache && rowCache.cover(rule);
    },
  }));
  const states = [learnedState()];
  const listeners = [];
  let current = 0;
  let nextNumber = entries.length + 1;
  let turn = Promise.resolve();

  const store = {
    facts,
    rows,
    rowCache,
    get state() {
      return states[current];
    },
    get original() {
      return states[0];
    },
    get isEdited() {
      return current > 0;
    },
    get canRedo() {
      return current < states.length - 1;
    },
    get current() {
      return current;
    },
    /** All steps, also those that were undone, each with the numbers and the JSON of its rules. */
    get steps() {
      return states.slice(1).map(({ label, reason, number, entries: own }) => ({
        label,
        reason,
        number,
        rules: own.map((entry) => [entry.number, entry.rule]),
      }));
    },
    /** What was done, in order, and why where that was said. */
    get history() {
      return states.slice(1, current + 1).map(({ label, reason }) => ({ label, reason: reason ?? "" }));
    },
    classIndex: (label) => classIndex.get(label),
    entry: (number) => store.state.entries.find((entry) => entry.number === number),
    /** Call a function after every change. */
    subscribe: (listener) => listeners.push(listener),
    undo: () => inTurn(() => move(current - 1)),
    redo: () => inTurn(() => move(current + 1)),
    /** Go to the state after so many steps. */
    goTo: (step) => inTurn(() => move(step)),
    stateAt: (step) => states[step],

    /**
     * Follow the current state by one with a rule changed, removed or added.
     *
     * @param {?number} number of the rule; null for a new one
     * @param {function(?object): ?object} change takes the JSON of the rule as it is then; what it
     *   returns takes its place, null removes it
     * @param {string} label
     * @returns {Promise<number>} the number of the rule; where nothing changes there is no new state
     */
    apply: (number, change, label) => inTurn(() => perform(number, change, label)),

    /**
     * The state that a change of a rule would lead to, without going there.
     *
     * @param {number} number
     * @param {object} rule the JSON that would take its place
     * @returns {Promise<State>}
     */
    preview: (number, rule) => changedState(store.entry(number), rule, number, ""),

    /** Why a step was done; it goes into the log. */
    explainStep(k, reason) {
      states[k + 1].reason = reason;
    },

    /** Take steps again that `steps` gave, and go to one of them. */
    replay: (steps, to) => inTurn(() => repeat(steps, to)),

  };
  return store;

  function learnedState() {
    const { data } = facts;
    const first = stateOf(facts.model, entries, rows, { label: "As learned" });
    if (!data || !data.deciding) return first;
    const counted = entries.map(({ number, known }) => [
      number,
      { ...known.decides, of: data.n_rows },
    ]);
    return Object.assign(first, { deciding: Uint16Array.from(unpack(data.deciding)), decides: new Map(counted) });
  }

  /**
   * One after the other: what takes long must be finished before something else begins.
   *
   * @returns {Promise<any>}
   */
  function inTurn(work) {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  async function perform(number, change, label) {
    const old = number === null ? null : store.entry(number);
    if (old === undefined) return number;
    const rule = change(old && old.rule);
    if (old && rule === old.rule) return number;
    const own = number ?? nextNumber;
    if (number === null) nextNumber += 1;
    advance(await changedState(old, rule, own, label));
    return own;
  }

  async function changedState(old, rule, number, label) {
    const before = store.state;
    const entry = rule && describe(number, rule);
    const changed = place(before, old, entry);
    const model = withRules(
      before.model,
      changed.map((one) => one.rule),
    );
    const everywhere =
      // What adds up can be altered by less than a rule must count to cover a row.
      !kindOf(model).isAlone || [old, entry].some((one) => one && one.rule.weight === 0);
    const isTouched = (i) =>
      everywhere || !before.counts[i] || (old && old.cover[i]) || (entry && entry.cover[i]);
    return decidedState(model, changed, isTouched, { label, number });
  }

  async function repeat(steps, to) {
    for (const { label, reason, number, rules } of steps) {
      const known = new Map(store.state.entries.map((entry) => [entry.rule, entry]));
      const own = rules.map(([place, rule]) => known.get(rule) ?? describe(place, rule));
      const model = withRules(
        store.state.model,
        own.map((one) => one.rule),
      );
      advance(Object.assign(await decidedState(model, own, () => true, { label, number }), { reason }));
      nextNumber = Math.max(nextNumber, ...own.map((one) => one.number + 1));
    }
    move(to);
  }

  /** Decide again where something may have changed. */
  async function decidedState(model, changed, isTouched, { label, number }) {
    /** @type {any} */
    const found = rows ? await redecide(store.state, model, changed, isTouched) : {};
    const state = stateOf(model, changed, found, { label, number });
    if (found.deciding) {
      state.deciding = found.deciding;
      state.decides = decidesOf(changed, found);
    }
    return state;
  }

  function advance(state) {
    states.splice(current + 1, Infinity, state);
    move(current + 1);
  }

  function move(to) {
    if (to < 0 || to >= states.length) return;
    // Going back, the rule that an edit was about is the one to look at again.
    const about = states[Math.max(to, current)].number;
    current = to;
    for (const listener of listeners) listener(store.state, about);
  }

  function describe(number, rule) {
    if (!rows) return { number, rule, known: {}, cover: null };
    const cover = rowCache.cover(rule);
    return { number, rule, known: statistics(rule, cover), cover };
  }

  /** Statistics of a rule on the embedded rows. */
  function statistics(rule, cover) {
    const covered = size(cover);
    const known = { covered, n_rows: rows.n, support: null, precision: null, lift: null };
    if (!rows.classes || rows.answers) return known;
    const support = facts.model.classes.map(() => 0);
    const isRight = speaksFor(facts.model, rule);
    let ofClass = 0;
    for (let i = 0; i < rows.n; i += 1) {
      if (cover[i]) support[rows.classes[i]] += 1;
      if (isRight(rows.classes[i])) ofClass += 1;
    }
    if (isRight(0) === null) return { ...known, support };
    const hits = sum(support.filter((_, c) => isRight(c)));
    const precision = covered ? hits / covered : null;
    const lift = precision !== null && ofClass ? precision / (ofClass / rows.n) : null;
    return { ...known, support, precision, lift };
  }

  /** Elsewhere than where a rule fires or fired, and where none did, nothing changes. */
  async function redecide(before, model, changed, isTouched) {
    const affected = [];
    for (let i = 0; i < rows.n; i += 1) if (isTouched(i)) affected.push(i);
    const judge = rowCache.judge(model);
    const numbers = [0, ...changed.map((entry) => entry.number)];
    const decided = before.decided.slice();
    const answers = before.answers && Float64Array.from(before.answers);
    const deciding = before.deciding && before.deciding.slice();
    await forEachYielding(affected, (i) => {
      const found = judge(i);
      decided[i] = answers ? levelOf(facts, found.answer) : found.decided;
      if (answers) answers[i] = found.answer;
      if (deciding) deciding[i] = numbers[found.deciding];
    });
    return { decided, answers, deciding };
  }

  function decidesOf(changed, { decided, deciding }) {
    const truth = rows.classes;
    const none = () => ({ rows: 0, right: truth ? 0 : null, of: rows.n });
    const found = new Map(changed.map(({ number }) => [number, none()]));
    for (let i = 0; i < rows.n; i += 1) {
      const own = found.get(deciding[i]);
      if (!own) continue;
      own.rows += 1;
      if (truth && truth[i] === decided[i]) own.right += 1;
    }
    return found;
  }
}

/**
 * Share of the rows that a rule covers, null if unknown.
 *
 * @param {object} entry
 * @param {object} store
 * @returns {?number}
 */
export function coverageOf(entry, store) {
  if (entry.known.covered === null || entry.known.covered === undefined) return null;
  const total = entry.known.n_rows ?? store.facts.overview.n_training;
  return total ? entry.known.covered / total : null;
}

function stateOf(model, entries, found, { label, number = null }) {
  const { decided = null, answers = null } = found ?? {};
  let counts = null;
  return {
    model,
    entries,
    decided,
    answers,
    label,
    number,
    deciding: null,
    decides: null,
    get counts() {
      counts ??= decided && countCovers(entries, decided.length);
      return counts;
    },
  };
}

function countCovers(entries, n) {
  const counts = new Uint16Array(n);
  for (const { cover } of entries) for (let i = 0; i < n; i += 1) counts[i] += cover[i];
  return counts;
}

/** The entries with one changed, taken out, or put in: in a list before the rules that always hold. */
function place({ entries, model }, old, entry) {
  if (old && entry) return entries.map((one) => (one === old ? entry : one));
  if (old) return entries.filter((one) => one !== old);
  let end = entries.length;
  if (model.semantics.name === "first-match")
    while (end && !entries[end - 1].rule.if.length) end -= 1;
  return [...entries.slice(0, end), entry, ...entries.slice(end)];
}

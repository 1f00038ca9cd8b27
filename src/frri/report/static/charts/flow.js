/**
 * The whole model as a picture: from attributes through rules to answers, as wide as rows are decided or carried.
 * What is decided wrongly is hatched; rows that are due to no rule are a strand of their own.
 */

import { roleOf } from "../model/contributions.js";
import { classColour } from "./chart.js";
import { isolate, s, scrolling } from "../core/dom.js";
import { levelNames, predictsNumbers } from "../model/regression.js";
import { isOrdered } from "../model/ordinal.js";
import { ranking } from "../model/ranking.js";
import { counted, percentText } from "../core/format.js";

/**
 * How large it is drawn: the frame, the room that a node with its name takes at least, left edges of the three
 * columns of nodes and their width, and how many rules, attributes and answers are told apart.
 */
export const LARGE = {
  frame: [900, 360, 17],
  columns: [150, 450, 740, 12],
  most: [12, 9, 14],
  extra: "flow",
  name: "Flow",
};
export const SMALL = {
  frame: [620, 134, 13],
  columns: [118, 330, 480, 8],
  most: [5, 5, 6],
  extra: "flow small-flow",
  name: "Flow at a glance",
};

/**
 * @param {object} store with rows
 * @param {object} actions
 * @param {object} [size] LARGE or SMALL
 * @returns {?HTMLElement} null where it cannot be told which rule is behind an answer
 */
export function flowPicture(store, actions, size = LARGE) {
  const flow = flowOf(store, size);
  if (!flow) return null;
  const { rules, attributes, classes, total } = flow;
  const [width, height] = size.frame;
  const [left, middle, right] = size.columns;
  const scale = Math.min(...[rules, attributes, classes].map((nodes) => scaleOf(nodes, total, size)));
  for (const nodes of [rules, attributes, classes]) stack(nodes, scale, size);
  const picture = s(
    "svg",
    {
      class: size.extra,
      viewBox: `0 -10 ${width} ${height + 20}`,
      role: "img",
      "aria-label": `How rows flow from attributes through rules to answers; ${described(flow, roleOf(store.facts.model))}`,
    },
    strands(flow, scale, store, size),
    labelled(attributes, left, "end", size),
    labelled(rules, middle, "end", size),
    labelled(classes, right, "start", size, (node) => ` · ${node.rows.toLocaleString("en")}`),
  );
  picture.addEventListener("click", (event) => {
    const number = event.target.closest("[data-number]")?.dataset.number;
    if (number) actions.openRule(Number(number));
  });
  return scrolling(size.name, picture);
}

/**
 * Nodes and rows between them, of the embedded rows.
 *
 * @param {object} store
 * @param {object} [size]
 * @returns {?{rules: object[], attributes: object[], classes: object[], total: number}}
 */
export function flowOf({ facts, rows, state }, { most: [mostRules, mostAttributes, mostAnswers] } = LARGE) {
  if (!rows || !state.deciding) return null;
  const { nobody } = roleOf(facts.model);
  // A number is not right or wrong.
  const truth = rows.answers ? null : rows.classes;
  const answers = rows.answers ? levelNames(facts) : facts.model.classes;
  const byRule = new Map();
  const perClass = new Map();
  for (let i = 0; i < rows.n; i += 1) {
    const number = state.deciding[i];
    const decided = state.decided[i];
    if (!byRule.has(number)) byRule.set(number, { number, rows: 0, wrong: 0, to: new Map(), isJudged: Boolean(truth) });
    const node = byRule.get(number);
    const isWrong = truth && truth[i] !== decided ? 1 : 0;
    node.rows += 1;
    node.wrong += isWrong;
    const strand = node.to.get(decided) ?? { rows: 0, wrong: 0 };
    node.to.set(decided, { rows: strand.rows + 1, wrong: strand.wrong + isWrong });
    perClass.set(decided, (perClass.get(decided) ?? 0) + 1);
  }
  const own = [...byRule.values()].filter(({ number }) => number).sort((a, b) => b.rows - a.rows);
  const entries = new Map(state.entries.map((entry) => [entry.number, entry]));
  const shown = own.slice(0, own.length === mostRules + 1 ? mostRules + 1 : mostRules).map((node) => ({
    ...node,
    name: `rule ${node.number}`,
    uses: [...new Set(entries.get(node.number).rule.if.map(({ attribute }) => attribute))],
  }));
  const rest = own.slice(shown.length);
  const nodes = [...shown];
  if (rest.length) nodes.push(merged(rest, entries));
  if (byRule.has(0)) nodes.push({ ...byRule.get(0), name: nobody, uses: [], isSilent: true });
  return {
    rules: nodes,
    attributes: attributeNodes(nodes, mostAttributes, facts),
    classes: classNodes(
      answerNodes(
        answers
          .map((label, c) => ({ name: String(label), members: [c], rows: perClass.get(c) ?? 0 }))
          .filter((node) => node.rows),
        mostAnswers,
      ),
      nodes,
      facts.model,
    ),
    total: rows.n,
  };
}

function merged(rest, entries) {
  const to = new Map();
  const uses = new Map();
  for (const node of rest) {
    for (const [decided, strand] of node.to) {
      const before = to.get(decided) ?? { rows: 0, wrong: 0 };
      to.set(decided, { rows: before.rows + strand.rows, wrong: before.wrong + strand.wrong });
    }
    const names = new Set(entries.get(node.number).rule.if.map(({ attribute }) => attribute));
    for (const name of names) uses.set(name, (uses.get(name) ?? 0) + node.rows / names.size);
  }
  const rows = rest.reduce((sum, node) => sum + node.rows, 0);
  const wrong = rest.reduce((sum, node) => sum + node.wrong, 0);
  const { isJudged } = rest[0];
  return { name: `${rest.length} other rules`, rows, wrong, isJudged, to, uses: [...uses.keys()], parts: uses };
}

/** The most frequent answers; all others are one. */
function answerNodes(nodes, most) {
  if (nodes.length <= most + 1) return nodes;
  const rare = new Set([...nodes].sort((a, b) => b.rows - a.rows).slice(most));
  return [
    ...nodes.filter((node) => !rare.has(node)),
    {
      name: `${rare.size} others`,
      members: [...rare].flatMap(({ members }) => members),
      rows: [...rare].reduce((sum, { rows }) => sum + rows, 0),
    },
  ];
}

/** Answers with an order stand in it; others near the rules that lead to them, so that few strands cross. */
function classNodes(classes, rules, model) {
  if (predictsNumbers(model) || isOrdered(model)) return classes;
  const rowsTo = (to, members) => members.reduce((sum, c) => sum + (to.get(c)?.rows ?? 0), 0);
  const place = ({ members, rows }) => rules.reduce((sum, { to }, k) => sum + k * rowsTo(to, members), 0) / rows;
  return classes.map((node) => [place(node), node]).sort((a, b) => a[0] - b[0]).map(([, node]) => node);
}

/**
 * What the order of the attributes means, and their width.
 *
 * @param {object} facts
 * @returns {string}
 */
export function orderWords(facts) {
  const known = facts.attributes.some(({ importance }) => importance !== null);
  const by = known
    ? `what ${facts.numbers ? "R2" : "the accuracy"} loses without them, as learned`
    : "how many rules use them, as learned";
  return `Attributes stand in the order of ${by}; each is as wide as the rows of the rules that use it, shared out evenly among the attributes of a rule.`;
}

/** What a rule decides is shared out evenly among the attributes that it uses. */
function attributeNodes(nodes, most, facts) {
  const found = new Map();
  for (const node of nodes) {
    node.from = new Map();
    for (const name of node.uses) {
      const part = node.parts ? node.parts.get(name) : node.rows / node.uses.length;
      node.from.set(name, part);
      found.set(name, (found.get(name) ?? 0) + part);
    }
    if (!node.uses.length && node.rows) {
      const name = node.isSilent ? node.name : "always";
      node.from.set(name, node.rows);
      found.set(name, (found.get(name) ?? 0) + node.rows);
    }
  }
  const order = [...found].sort((a, b) => b[1] - a[1]);
  // One more takes no more room than "1 other".
  const end = order.length === most + 1 ? most + 1 : most;
  // The widest are told apart, and stand in the order of the other views.
  const rank = new Map(ranking(facts).map((j, k) => [facts.attributes[j].name, k]));
  const place = (name) => rank.get(name) ?? Infinity;
  const few = order
    .slice(0, end)
    .map(([name, rows]) => ({ name, rows, names: [name] }))
    .sort((a, b) => place(a.name) - place(b.name));
  const others = order.slice(end);
  if (others.length)
    few.push({
      name: `${others.length} others`,
      rows: others.reduce((sum, [, rows]) => sum + rows, 0),
      names: others.map(([name]) => name),
    });
  return few;
}

/** The most units of height per row at which every node, with room for its name, finds its place. */
function scaleOf(nodes, total, { frame: [, height, room] }) {
  const fits = (scale) => nodes.reduce((sum, { rows }) => sum + slotOf(rows * scale, room), 0) <= height;
  let [low, high] = [0, height / total];
  for (let k = 0; k < 24; k += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** What a node of some height takes, with its name and a gap to the next one. */
function slotOf(height, room) {
  return Math.max(height + room / 4, room);
}

/** Nodes below each other: each in a slot with room for its name, what is left over between the slots. */
function stack(nodes, scale, { frame: [, height, room] }) {
  const slots = nodes.map(({ rows }) => slotOf(rows * scale, room));
  const used = slots.reduce((a, b) => a + b, 0);
  const gap = nodes.length > 1 ? Math.min((height - used) / (nodes.length - 1), 2 * room) : 0;
  let from = (height - used - gap * (nodes.length - 1)) / 2;
  nodes.forEach((node, k) => {
    const own = node.rows * scale;
    const top = from + (slots[k] - own) / 2;
    Object.assign(node, { top, height: own, inAt: top, outAt: top });
    from += slots[k] + gap;
  });
}

function strands({ rules, attributes, classes }, scale, store, { columns: [left, middle, right, node] }) {
  const found = [];
  const ofAttribute = new Map(attributes.flatMap((node) => node.names.map((name) => [name, node])));
  const ofClass = new Map(classes.flatMap((node) => node.members.map((c) => [c, node])));
  for (const rule of rules) {
    for (const [name, rows] of rule.from) {
      const source = ofAttribute.get(name);
      found.push(strand(left + node, source.outAt, middle, rule.inAt, rows * scale, "strand", rule));
      source.outAt += rows * scale;
      rule.inAt += rows * scale;
    }
    for (const [decided, { rows, wrong }] of [...rule.to].sort((a, b) => a[0] - b[0])) {
      const target = ofClass.get(decided);
      const colour = `strand ${classColour(store.facts, decided)}`;
      for (const [n, extra] of [
        [rows - wrong, colour],
        [wrong, "hatched"],
      ]) {
        if (!n) continue;
        found.push(strand(middle + node, rule.outAt, right, target.inAt, n * scale, extra, rule));
        rule.outAt += n * scale;
        target.inAt += n * scale;
      }
    }
  }
  return found;
}

function strand(x1, y1, x2, y2, height, extra, node) {
  const middle = (x1 + x2) / 2;
  const f = (value) => value.toFixed(1);
  const d = `M${x1} ${f(y1)}C${middle} ${f(y1)} ${middle} ${f(y2)} ${x2} ${f(y2)}v${f(height)}C${middle} ${f(y2 + height)} ${middle} ${f(y1 + height)} ${x1} ${f(y1 + height)}z`;
  return s(
    "path",
    { class: `${extra}${node.isSilent ? " silent" : ""}`, d, "data-number": node.number || null },
    s("title", {}, `${isolate(node.name)}: ${counted(node.rows, "row")}${node.isJudged ? `, ${node.wrong} wrong` : ""}`),
  );
}

/** Nodes of a column with their names. */
function labelled(nodes, x, anchor, { frame: [end], columns: [, , , width] }, extra = () => "") {
  const place = anchor === "end" ? x - 5 : x + width + 6;
  const middleOf = (node) => node.top + node.height / 2 + 4;
  return nodes.map((node) => {
    const text = `${isolate(node.name)}${extra(node)}`;
    const short = fitted(node.name, anchor === "end" ? place : end - place, extra(node));
    return s(
      "g",
      { "data-number": node.number || null },
      s("rect", { class: "node", x, y: node.top, width, height: Math.max(node.height, 1) }, s("title", {}, text)),
      s("text", { x: place, y: middleOf(node), "text-anchor": anchor }, `${isolate(short)}${extra(node)}`, s("title", {}, text)),
    );
  });
}

/** A name that is shortened where it would be too wide, with what follows it. */
function fitted(name, width, extra) {
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const letters = [...name];
  const isWide = (text) => ruler.measureText(text + extra).width > width;
  if (!isWide(name)) return name;
  while (letters.length && isWide(`${letters.join("")}…`)) letters.pop();
  return `${letters.join("")}…`;
}
const ruler = document.createElement("canvas").getContext("2d");

function described({ rules, total }, { verb, nobody }) {
  const silent = rules.find((node) => node.isSilent);
  const first = rules.find((node) => node.number);
  const parts = first
    ? [`${first.name} ${verb} most, ${percentText(first.rows / total)} of the rows`]
    : [];
  if (silent) parts.push(`${nobody} ${counted(silent.rows, "row")}`);
  return parts.join(", ") || "there is nothing to show";
}

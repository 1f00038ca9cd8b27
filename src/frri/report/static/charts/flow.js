/**
 * The whole model as a picture: from columns through rules to classes, as wide as rows are decided. What is decided
 * wrongly is hatched; rows that no rule covers are a strand of their own.
 */

import { classColour } from "./chart.js";
import { isolate, s, scrolling } from "../core/dom.js";
import { ranking } from "../model/ranking.js";
import { counted, percentText } from "../core/format.js";

/** The frame, the room that a node with its name takes at least, left edges of the columns of nodes, and their width. */
const [WIDTH, HEIGHT, ROOM] = [900, 360, 17];
const [LEFT, MIDDLE, RIGHT, NODE] = [150, 450, 740, 12];
/** How many rules and columns are told apart, and the classes with which it can be read. */
const [MOST_RULES, MOST_COLUMNS, MOST_CLASSES] = [12, 9, 12];

/**
 * @param {object} store with rows
 * @param {object} actions
 * @returns {?HTMLElement} null where no single rule decides, or where there are many classes
 */
export function flowPicture(store, actions) {
  const flow = flowOf(store);
  if (!flow) return null;
  const { rules, attributes, classes, total } = flow;
  const scale = Math.min(...[rules, attributes, classes].map((nodes) => scaleOf(nodes, total)));
  for (const nodes of [rules, attributes, classes]) stack(nodes, scale);
  const picture = s(
    "svg",
    {
      class: "flow",
      viewBox: `0 -10 ${WIDTH} ${HEIGHT + 20}`,
      role: "img",
      "aria-label": `Rows from columns through rules to classes; ${described(flow)}`,
    },
    strands(flow, scale, store),
    labelled(attributes, LEFT, "end"),
    labelled(rules, MIDDLE, "end"),
    labelled(classes, RIGHT, "start", (node) => ` · ${node.rows.toLocaleString("en")}`),
  );
  picture.addEventListener("click", (event) => {
    const number = event.target.closest("[data-number]")?.dataset.number;
    if (number) actions.openRule(Number(number));
  });
  return scrolling("Flow", picture);
}

/**
 * Nodes and rows between them, of the embedded rows.
 *
 * @param {object} store
 * @returns {?{rules: object[], attributes: object[], classes: object[], total: number}}
 */
function flowOf({ facts, rows, state }) {
  if (!rows || !state.deciding || facts.model.classes.length > MOST_CLASSES) return null;
  const truth = rows.classes;
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
  const shown = own.slice(0, own.length === MOST_RULES + 1 ? MOST_RULES + 1 : MOST_RULES).map((node) => ({
    ...node,
    name: `rule ${node.number}`,
    uses: [...new Set(entries.get(node.number).rule.if.map(({ attribute }) => attribute))],
  }));
  const rest = own.slice(shown.length);
  const nodes = [...shown];
  if (rest.length) nodes.push(merged(rest, entries));
  if (byRule.has(0)) nodes.push({ ...byRule.get(0), name: "no rule", uses: [], isSilent: true });
  return {
    rules: nodes,
    attributes: attributeNodes(nodes, facts),
    classes: classNodes(
      facts.model.classes
        .map((label, c) => ({ name: String(label), position: c, rows: perClass.get(c) ?? 0 }))
        .filter((node) => node.rows),
      nodes,
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

/** Classes stand near the rules that lead to them, so that few strands cross. */
function classNodes(classes, rules) {
  const place = ({ position, rows }) => rules.reduce((sum, { to }, k) => sum + k * (to.get(position)?.rows ?? 0), 0) / rows;
  return classes.map((node) => [place(node), node]).sort((a, b) => a[0] - b[0]).map(([, node]) => node);
}

/** What a rule decides is shared out evenly among the attributes that it uses. */
function attributeNodes(nodes, facts) {
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
  const end = order.length === MOST_COLUMNS + 1 ? MOST_COLUMNS + 1 : MOST_COLUMNS;
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
function scaleOf(nodes, total) {
  const fits = (scale) => nodes.reduce((sum, { rows }) => sum + slotOf(rows * scale), 0) <= HEIGHT;
  let [low, high] = [0, HEIGHT / total];
  for (let k = 0; k < 24; k += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** What a node of some height takes, with its name and a gap to the next one. */
function slotOf(height) {
  return Math.max(height + ROOM / 4, ROOM);
}

/** Nodes below each other: each in a slot with room for its name, what is left over between the slots. */
function stack(nodes, scale) {
  const slots = nodes.map(({ rows }) => slotOf(rows * scale));
  const used = slots.reduce((a, b) => a + b, 0);
  const gap = nodes.length > 1 ? Math.min((HEIGHT - used) / (nodes.length - 1), 2 * ROOM) : 0;
  let from = (HEIGHT - used - gap * (nodes.length - 1)) / 2;
  nodes.forEach((node, k) => {
    const own = node.rows * scale;
    const top = from + (slots[k] - own) / 2;
    Object.assign(node, { top, height: own, inAt: top, outAt: top });
    from += slots[k] + gap;
  });
}

function strands({ rules, attributes, classes }, scale, store) {
  const found = [];
  const ofAttribute = new Map(attributes.flatMap((node) => node.names.map((name) => [name, node])));
  const ofClass = new Map(classes.map((node) => [node.position, node]));
  for (const rule of rules) {
    for (const [name, rows] of rule.from) {
      const source = ofAttribute.get(name);
      found.push(strand(LEFT + NODE, source.outAt, MIDDLE, rule.inAt, rows * scale, "strand", rule));
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
        found.push(strand(MIDDLE + NODE, rule.outAt, RIGHT, target.inAt, n * scale, extra, rule));
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
function labelled(nodes, x, anchor, extra = (_) => "") {
  const place = anchor === "end" ? x - 5 : x + NODE + 6;
  const middleOf = (node) => node.top + node.height / 2 + 4;
  return nodes.map((node) => {
    const text = `${isolate(node.name)}${extra(node)}`;
    const short = fitted(node.name, anchor === "end" ? place : WIDTH - place, extra(node));
    return s(
      "g",
      { "data-number": node.number || null },
      s("rect", { class: "node", x, y: node.top, width: NODE, height: Math.max(node.height, 1) }, s("title", {}, text)),
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

function described({ rules, total }) {
  const silent = rules.find((node) => node.isSilent);
  const first = rules.find((node) => node.number);
  const parts = first ? [`${first.name} decides most, ${percentText(first.rows / total)} of the rows`] : [];
  if (silent) parts.push(`no rule ${counted(silent.rows, "row")}`);
  return parts.join(", ") || "there is nothing to show";
}

/**
 * The whole model as a picture: from attributes through rules to classes, as wide as rows are decided.
 * What is decided wrongly is hatched; rows that no rule covers are a strand of their own.
 */

import { classColour } from "./chart.js";
import { h, s } from "./dom.js";
import { counted, percentText } from "./words.js";

const [WIDTH, HEIGHT, GAP] = [900, 360, 13];
/** Left edges of the three columns of nodes, and their width. */
const [LEFT, MIDDLE, RIGHT, NODE] = [150, 450, 740, 12];
const MOST_RULES = 12;
const MOST_ATTRIBUTES = 9;

/**
 * @param {object} store with rows
 * @param {object} actions
 * @returns {?HTMLElement} null where no single rule decides
 */
export function flowPicture(store, actions) {
  const flow = flowOf(store);
  if (!flow) return null;
  const { rules, attributes, classes, total } = flow;
  const unit = (nodes) => (HEIGHT - GAP * (nodes.length - 1)) / total;
  const scale = Math.min(unit(rules), unit(attributes), unit(classes));
  for (const nodes of [rules, attributes, classes]) stack(nodes, scale);
  const picture = s(
    "svg",
    {
      class: "flow",
      viewBox: `0 -10 ${WIDTH} ${HEIGHT + 20}`,
      role: "img",
      "aria-label": `How rows flow from attributes through rules to classes; ${described(flow)}`,
    },
    strands(flow, scale, store),
    attributes.map((node) => labelled(node, LEFT, "end", node.name)),
    rules.map((node) => labelled(node, MIDDLE, "end", node.name)),
    classes.map((node) => labelled(node, RIGHT, "start", `${node.name} ${node.rows.toLocaleString("en")}`)),
  );
  picture.addEventListener("click", (event) => {
    const number = event.target.closest("[data-number]")?.dataset.number;
    if (number) actions.openRule(Number(number));
  });
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Flow" }, picture);
}

/**
 * Nodes and rows between them, of the embedded rows.
 *
 * @param {object} store
 * @returns {?{rules: object[], attributes: object[], classes: object[], total: number}}
 */
export function flowOf({ facts, rows, state }) {
  if (!rows || !state.deciding) return null;
  const byRule = new Map();
  const perClass = new Map();
  for (let i = 0; i < rows.n; i += 1) {
    const number = state.deciding[i];
    const decided = state.decided[i];
    if (!byRule.has(number)) byRule.set(number, { number, rows: 0, wrong: 0, to: new Map() });
    const node = byRule.get(number);
    const isWrong = rows.classes && rows.classes[i] !== decided ? 1 : 0;
    node.rows += 1;
    node.wrong += isWrong;
    const strand = node.to.get(decided) ?? { rows: 0, wrong: 0 };
    node.to.set(decided, { rows: strand.rows + 1, wrong: strand.wrong + isWrong });
    perClass.set(decided, (perClass.get(decided) ?? 0) + 1);
  }
  const own = [...byRule.values()].filter(({ number }) => number).sort((a, b) => b.rows - a.rows);
  const entries = new Map(state.entries.map((entry) => [entry.number, entry]));
  const shown = own.slice(0, MOST_RULES).map((node) => ({
    ...node,
    name: `rule ${node.number}`,
    uses: [...new Set(entries.get(node.number).rule.if.map(({ attribute }) => attribute))],
  }));
  const rest = own.slice(MOST_RULES);
  const nodes = [...shown];
  if (rest.length) nodes.push(merged(rest, entries));
  if (byRule.has(0)) nodes.push({ ...byRule.get(0), name: "no rule", uses: [], isSilent: true });
  return {
    rules: nodes,
    attributes: attributeNodes(nodes),
    classes: facts.model.classes
      .map((label, c) => ({ name: String(label), decided: c, rows: perClass.get(c) ?? 0 }))
      .filter((node) => node.rows),
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
  return { name: `${rest.length} other rules`, rows, wrong, to, uses: [...uses.keys()], parts: uses };
}

/** What a rule decides is shared out evenly among the attributes that it uses. */
function attributeNodes(nodes) {
  const found = new Map();
  for (const node of nodes) {
    node.from = new Map();
    for (const name of node.uses) {
      const part = node.parts ? node.parts.get(name) : node.rows / node.uses.length;
      node.from.set(name, part);
      found.set(name, (found.get(name) ?? 0) + part);
    }
    if (!node.uses.length && node.rows) {
      const name = node.isSilent ? "no rule holds" : "always";
      node.from.set(name, node.rows);
      found.set(name, (found.get(name) ?? 0) + node.rows);
    }
  }
  const order = [...found].sort((a, b) => b[1] - a[1]);
  const few = order.slice(0, MOST_ATTRIBUTES).map(([name, rows]) => ({ name, rows, names: [name] }));
  const others = order.slice(MOST_ATTRIBUTES);
  if (others.length)
    few.push({
      name: `${others.length} others`,
      rows: others.reduce((sum, [, rows]) => sum + rows, 0),
      names: others.map(([name]) => name),
    });
  return few;
}

function stack(nodes, scale) {
  const heights = nodes.map((node) => node.rows * scale);
  const used = heights.reduce((a, b) => a + b, 0);
  const gap = nodes.length > 1 ? Math.min((HEIGHT - used) / (nodes.length - 1), 26) : 0;
  let top = (HEIGHT - used - gap * (nodes.length - 1)) / 2;
  nodes.forEach((node, k) => {
    Object.assign(node, { top, height: heights[k], inAt: top, outAt: top });
    top += heights[k] + gap;
  });
}

function strands({ rules, attributes, classes }, scale, store) {
  const found = [];
  const ofAttribute = new Map(attributes.flatMap((node) => node.names.map((name) => [name, node])));
  const ofClass = new Map(classes.map((node) => [node.decided, node]));
  for (const node of rules) {
    for (const [name, rows] of node.from) {
      const source = ofAttribute.get(name);
      found.push(strand(LEFT + NODE, source.outAt, MIDDLE, node.inAt, rows * scale, "strand", node));
      source.outAt += rows * scale;
      node.inAt += rows * scale;
    }
    for (const [decided, { rows, wrong }] of [...node.to].sort((a, b) => a[0] - b[0])) {
      const target = ofClass.get(decided);
      const colour = `strand ${classColour(store.facts, decided)}`;
      for (const [n, extra] of [
        [rows - wrong, colour],
        [wrong, "hatched"],
      ]) {
        if (!n) continue;
        found.push(strand(MIDDLE + NODE, node.outAt, RIGHT, target.inAt, n * scale, extra, node));
        node.outAt += n * scale;
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
    s("title", {}, `${node.name}: ${counted(node.rows, "row")}, ${node.wrong} wrong`),
  );
}

function labelled(node, x, anchor, text) {
  const place = anchor === "end" ? x - 6 : x + NODE + 8;
  const y = node.top + node.height / 2 + 4;
  const short = text.length > 22 ? `${text.slice(0, 21)}…` : text;
  return s(
    "g",
    { "data-number": node.number || null },
    s("rect", { class: "node", x, y: node.top, width: NODE, height: Math.max(node.height, 1) }),
    s("text", { x: place, y, "text-anchor": anchor }, short, s("title", {}, text)),
  );
}

function described({ rules, total }) {
  const silent = rules.find((node) => node.isSilent);
  const first = rules.find((node) => node.number);
  const parts = first
    ? [`${first.name} decides most, ${percentText(first.rows / total)} of the rows`]
    : [];
  if (silent) parts.push(`${counted(silent.rows, "row")} without a rule`);
  return parts.join(", ") || "there is nothing to show";
}

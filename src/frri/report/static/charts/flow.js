/**
 * Which rules decide: from rules to classes, as wide as rows are decided. What is decided wrongly is hatched; rows that
 * no rule covers are a strand of their own.
 */

import { classColour } from "./chart.js";
import { isolate, s, scrolling } from "../core/dom.js";
import { counted, percentText, sum, whole } from "../core/format.js";

/** The frame, the room that a node with its name takes at least, left edges of the columns of nodes, and their width. */
const [WIDTH, HEIGHT, ROOM] = [720, 340, 17];
const [LEFT, RIGHT, NODE] = [110, 560, 12];
/** Maximum number of rules shown separately, and of classes. */
const [MOST_RULES, MOST_CLASSES] = [12, 12];

/**
 * @param {object} store
 * @param {object} actions
 * @returns {?HTMLElement} null where no single rule decides, or where there are many classes
 */
export function flowPicture(store, actions) {
  const { rows, state, facts } = store;
  if (!rows || !state.deciding || facts.model.classes.length > MOST_CLASSES) return null;
  const rules = ruleNodes(store);
  const classes = classNodes(facts.model.classes, rules);
  const scale = Math.min(...[rules, classes].map((nodes) => scaleOf(nodes, rows.n)));
  for (const nodes of [rules, classes]) stack(nodes, scale);
  const first = rules.find(({ number }) => number);
  const picture = s(
    "svg",
    {
      class: "flow",
      viewBox: `0 -10 ${WIDTH} ${HEIGHT + 20}`,
      role: "img",
      "aria-label": `Rows from rules to classes${first ? `; ${first.name} decides most, ${percentText(first.rows / rows.n)} of the rows` : ""}`,
    },
    strands(rules, classes, scale, facts),
    labelled(rules, LEFT, "end"),
    labelled(classes, RIGHT, "start"),
  );
  picture.addEventListener("click", (event) => {
    const number = event.target.closest("[data-number]")?.dataset.number;
    if (number) actions.openRule(Number(number));
  });
  return scrolling("Flow", picture);
}

/** Rules by the embedded rows that they decide, those of fewest rows as one, and the rows that no rule covers. */
function ruleNodes({ rows, state }) {
  const nodes = new Map();
  const truth = rows.classes;
  for (let i = 0; i < rows.n; i += 1) {
    const [number, decided] = [state.deciding[i], state.decided[i]];
    if (!nodes.has(number)) nodes.set(number, { number, name: number ? `rule ${number}` : "no rule", to: new Map() });
    const { to } = nodes.get(number);
    const [right, wrong] = to.get(decided) ?? [0, 0];
    const isWrong = truth && truth[i] !== decided;
    to.set(decided, isWrong ? [right, wrong + 1] : [right + 1, wrong]);
  }
  const all = [...nodes.values()].map((node) => ({ ...node, rows: sum([...node.to.values()].flat()) }));
  const own = all.filter(({ number }) => number).sort((a, b) => b.rows - a.rows);
  // One more takes no more room than "1 other rule".
  const end = own.length === MOST_RULES + 1 ? MOST_RULES + 1 : MOST_RULES;
  const rest = own.slice(end);
  const to = new Map();
  for (const [decided, counts] of rest.flatMap((node) => [...node.to]))
    to.set(decided, counts.map((count, k) => count + (to.get(decided)?.[k] ?? 0)));
  const others = rest.length ? [{ name: `${rest.length} other rules`, to, rows: sum(rest.map(({ rows: n }) => n)) }] : [];
  return [...own.slice(0, end), ...others, ...all.filter(({ number }) => number === 0)];
}

/** Classes stand near the rules that lead to them, so that few strands cross. */
function classNodes(classes, rules) {
  return classes
    .map((name, position) => {
      const counts = rules.map(({ to }) => sum(to.get(position) ?? []));
      const rows = sum(counts);
      return { name: `${isolate(name)} · ${whole(rows)}`, position, rows, place: sum(counts.map((n, k) => n * k)) / rows };
    })
    .filter(({ rows }) => rows)
    .sort((a, b) => a.place - b.place);
}

/** The most units of height per row at which every node, with room for its name, finds its place. */
function scaleOf(nodes, total) {
  let [low, high] = [0, HEIGHT / total];
  for (let k = 0; k < 24; k += 1) {
    const middle = (low + high) / 2;
    if (sum(nodes.map(({ rows }) => slotOf(rows * middle))) <= HEIGHT) low = middle;
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
  const left = HEIGHT - sum(slots);
  const gap = nodes.length > 1 ? Math.min(left / (nodes.length - 1), 2 * ROOM) : 0;
  let from = (left - gap * (nodes.length - 1)) / 2;
  nodes.forEach((node, k) => {
    const height = node.rows * scale;
    const top = from + (slots[k] - height) / 2;
    Object.assign(node, { top, height, next: top });
    from += slots[k] + gap;
  });
}

function strands(rules, classes, scale, facts) {
  return rules.flatMap((rule) =>
    [...rule.to]
      .sort((a, b) => a[0] - b[0])
      .flatMap(([decided, counts]) =>
        counts.map((n, isWrong) => {
          if (!n) return null;
          const target = classes.find(({ position }) => position === decided);
          const extra = isWrong ? "hatched" : `strand ${classColour(facts, decided)}`;
          const path = strand(rule.next, target.next, n * scale, extra, rule);
          rule.next += n * scale;
          target.next += n * scale;
          return path;
        }),
      ),
  );
}

function strand(y1, y2, height, extra, { number, name, to, rows }) {
  const [x1, x2, middle] = [LEFT + NODE, RIGHT, (LEFT + NODE + RIGHT) / 2];
  const f = (value) => value.toFixed(1);
  const d = `M${x1} ${f(y1)}C${middle} ${f(y1)} ${middle} ${f(y2)} ${x2} ${f(y2)}v${f(height)}C${middle} ${f(y2 + height)} ${middle} ${f(y1 + height)} ${x1} ${f(y1 + height)}z`;
  const wrong = sum([...to.values()].map((counts) => counts[1]));
  return s(
    "path",
    { class: `${extra}${number === 0 ? " silent" : ""}`, d, "data-number": number || null },
    s("title", {}, `${name}: ${counted(rows, "row")}${wrong ? `, ${whole(wrong)} wrong` : ""}`),
  );
}

/** Nodes of a column with their names, which are shortened where they would be too wide. */
function labelled(nodes, x, anchor) {
  const place = anchor === "end" ? x - 5 : x + NODE + 6;
  const width = anchor === "end" ? place : WIDTH - place;
  return nodes.map(({ number, name, top, height }) =>
    s(
      "g",
      { "data-number": number || null },
      s("rect", { class: "node", x, y: top, width: NODE, height: Math.max(height, 1) }),
      s("text", { x: place, y: top + height / 2 + 4, "text-anchor": anchor }, fitted(name, width), s("title", {}, name)),
    ),
  );
}

/** The middle of a name goes: columns and classes often begin alike. */
function fitted(name, width) {
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const letters = [...name];
  let shown = name;
  for (let kept = letters.length - 1; kept > 1 && ruler.measureText(shown).width > width; kept -= 1)
    shown = `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(-Math.floor(kept / 2)).join("")}`;
  return shown;
}
const ruler = document.createElement("canvas").getContext("2d");

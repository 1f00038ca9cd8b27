/**
 * The cut-off of two classes: the probability of the positive class from which a row is called positive, what it
 * leads to among the embedded rows, which one is cheapest, and the costs by which a model keeps it.
 */

import { explain, probabilities } from "../core/evaluator.js";
import { actionButton, card, h, labelled, muted, option, put, scrolling, span } from "../core/dom.js";
import { percentText, whole } from "../core/format.js";
import { kindOf, rarest } from "../model/kind.js";
import { basisText } from "../model/measures.js";
import { forEachYielding } from "../core/yieldToUi.js";

/** Shares of rows and a cut-off closer than this are a tie, which rounding may decide. */
const TIE = 1e-9;

/** Decimal places of costs: those of most cut-offs, and more where rows are close together. */
const PLACES = [4, 6, 8];

/**
 * @param {object} store
 * @returns {?HTMLElement} null where there are not two classes, or rows without them
 */
export function cutoffCard(store) {
  const { facts, rows, state } = store;
  if (facts.model.classes.length !== 2 || !rows?.classes || rows.truth) return null;
  const place = h("div", { "aria-busy": "true" }, muted("Being measured …"));
  measure(store).then((found) => {
    if (!found) return;
    put(place, cutoffBlock(store, state, found));
    place.removeAttribute("aria-busy");
  });
  return card("Cut-off", "wide cutoff", place);
}

/**
 * For each row the shares of both classes at equal costs, before they are mixed with the sizes of the classes, and
 * whether the nearest rule decides, which costs do not alter.
 */
async function measure(store) {
  const { rows, state } = store;
  const { model } = state;
  const equal = { ...withoutCosts(model), trust: 1 };
  const hasNearest = model.semantics.fallback === "nearest" && !kindOf(model).isOrdered && model.rules.some(({ weight }) => weight > 0);
  const shares = model.classes.map(() => new Float64Array(rows.n));
  const isFixed = new Uint8Array(rows.n);
  const finished = await forEachYielding(
    shares[0].keys(),
    (i) => {
      const row = rows.at(i);
      [shares[0][i], shares[1][i]] = probabilities(equal, row);
      if (hasNearest && !state.counts[i] && explain(equal, row).score === 0) isFixed[i] = 1;
    },
    () => store.state !== state,
  );
  return finished ? { shares, isFixed } : null;
}

/** The model with equal costs, as `with_decision("accuracy")` returns it. */
function withoutCosts({ costs, ...model }) {
  if (!costs || !kindOf(model).addsVotes) return model;
  const snapped = (value) => Math.round(value * 2 ** 40) / 2 ** 40;
  return { ...model, base: model.base.map((base, c) => snapped(base) - snapped(Math.log(costs[c]))) };
}

function cutoffBlock({ facts, rows }, { model, decided }, found) {
  const { classes } = model;
  const positive = h("select", { id: "positive-class", onchange: restart }, classes.map((label, c) => option(String(c), String(label))));
  const slider = h("input", { type: "range", id: "cut-off", min: 0, max: 1, step: 0.01, oninput: () => choose(Number(slider.value)) });
  const shown = h("output", { for: "cut-off", class: "figure" });
  const costs = ["false positive", "false negative"].map((error) =>
    h("input", { type: "number", id: `cost-${error.replace(" ", "-")}`, min: 0, step: "any", placeholder: "cost", oninput: showCheapest }),
  );
  const figures = h("table", "small");
  const cheapest = h("p", { role: "status" });
  const kept = h("p", {});
  let own = null;
  let cut = null;
  positive.value = String(rarest(model));
  restart();
  return [
    muted(
      `A row is called positive from this probability of the positive class on (at equal costs of both errors). ${basisText(facts, rows.n)}`,
    ),
    h(
      "div",
      "columns",
      h(
        "div",
        "trimmer",
        labelled("Positive class", positive),
        labelled("Cut-off", slider),
        shown,
        actionButton("Model's decision", () => choose(own.decision)),
      ),
      scrolling("Measures at the cut-off", figures),
      h("div", "trimmer", labelled("Cost of a false positive", costs[0]), labelled("Cost of a false negative", costs[1]), cheapest),
    ),
    kept,
  ];

  function restart() {
    own = scale(model, found, Number(positive.value));
    choose(own.decision);
    showCheapest();
  }

  function choose(wanted) {
    cut = wanted;
    slider.value = cut;
    const called = calledAt(cut);
    const [hits, misses, alarms, rest] = countErrors(called);
    slider.setAttribute("aria-valuetext", textOf(cut));
    put(shown, textOf(cut));
    put(
      figures,
      h(
        "tbody",
        {},
        figure("Sensitivity", hits, hits + misses),
        figure("Specificity", rest, rest + alarms),
        figure("Positive predictive value", hits, hits + alarms),
        figure("Negative predictive value", rest, rest + misses),
        figure("Accuracy", hits + rest, rows.n),
      ),
    );
    put(kept, cut === own.decision ? "This is the cut-off of the model." : keeping(model, own, cut, called));
  }

  function textOf(at) {
    return String(at === own.decision ? Number(at.toFixed(4)) : at);
  }

  /** Which rows are called positive; ties at the cut-off of the model are decided as it does. */
  function calledAt(at) {
    return Array.from(own.probabilities, (p, i) => (at === own.decision ? decided[i] === own.position : p >= at));
  }

  /** How many rows are true positives, false negatives, false positives and true negatives. */
  function countErrors(called) {
    const counts = [0, 0, 0, 0];
    called.forEach((isCalled, i) => {
      counts[(rows.classes[i] === own.position ? 0 : 2) + (isCalled === (rows.classes[i] === own.position) ? 0 : 1)] += 1;
    });
    const [hits, misses, rest, alarms] = counts;
    return [hits, misses, alarms, rest];
  }

  function showCheapest() {
    const [alarm, miss] = costs.map(({ value }) => (value === "" ? NaN : Number(value)));
    if (!(alarm >= 0 && miss >= 0 && alarm + miss > 0)) {
      put(cheapest, span("muted", "Give both costs to find the cheapest cut-off."));
      return;
    }
    const [, misses, alarms] = countErrors(calledAt(own.decision));
    const now = { cut: own.decision, cost: alarms * alarm + misses * miss };
    const best = cheapestCut(own.probabilities, (i) => rows.classes[i] === own.position, [alarm, miss], now);
    const mean = (cost) => String(Number((cost / rows.n).toPrecision(3)));
    put(
      cheapest,
      `Cheapest for these rows: ${textOf(best.cut)}, with a mean cost of ${mean(best.cost)} per row (${mean(now.cost)} by the model). `,
      actionButton("Use it", () => choose(best.cut), "link", `Use it: cut-off ${textOf(best.cut)}`),
    );
  }
}

/**
 * What the positions of a cut-off mean if a class is the positive one: the probability of each row as
 * `predict_proba` returns it at equal costs, the share behind it, and the cut-off by which the model decides.
 */
function scale(model, { shares, isFixed }, position) {
  const [own, other] = [shares[position], shares[1 - position]];
  const trust = model.trust ?? 1;
  const prior = model.class_counts[position] / (model.class_counts[0] + model.class_counts[1]);
  const isAhead = (i) => (position ? own[i] > other[i] : own[i] >= other[i]);
  // The class decided for is never less probable than the other one.
  const mixed = (share, ahead) => {
    const probability = trust * share + (1 - trust) * prior;
    return ahead ? Math.max(probability, 0.5) : Math.min(probability, 0.5);
  };
  const costs = model.costs ?? [1, 1];
  const decision = costs[1 - position] / (costs[0] + costs[1]);
  return {
    position,
    shares: own,
    isFixed,
    isAhead,
    probabilities: own.map((share, i) => mixed(share, isAhead(i))),
    decision: decision === 0.5 ? 0.5 : mixed(decision, decision > 0.5),
    /** The share from which on the probability is at least a cut-off. */
    shareAt(cut) {
      const share = (cut - (1 - trust) * prior) / trust;
      if (cut === 0.5) return 0.5;
      return cut > 0.5 ? Math.max(share, 0.5) : Math.min(share, 0.5);
    },
  };
}

/** How a model keeps a cut-off, where costs lead to the same decisions. */
function keeping(model, own, cut, called) {
  const share = kindOf(model).isOrdered ? null : costShare(own, cut, called);
  if (share === null) return "No costs lead to exactly these decisions.";
  // Of rounded differences only the decimals that the share has.
  const costs = model.classes.map((label, c) => `${literal(label)}: ${c === own.position ? Number((1 - share).toFixed(PLACES.at(-1))) : share}`);
  return ["To keep it: ", h("code", { dir: "ltr", class: "name" }, `ruleset.with_decision({${costs.join(", ")}})`), " makes these decisions."];
}

/** The cost of the negative class, of both together 1, by which all rows are called as they are; null if none is. */
function costShare(own, cut, called) {
  const exact = own.shareAt(cut);
  for (const places of PLACES) {
    const step = 10 ** places;
    // Just below where rows lie on the cut-off: costs decide a tie for the first class.
    for (const share of [Math.round(exact * step) / step, (Math.ceil(exact * step - TIE) - 1) / step]) {
      if (share > 0 && share < 1 && called.every((isCalled, i) => isDecided(i, share, isCalled))) return share;
    }
  }
  return null;

  function isDecided(i, share, isCalled) {
    if (own.isFixed[i]) return own.isAhead(i) === isCalled;
    return isCalled ? own.shares[i] > share + TIE : own.shares[i] < share - TIE;
  }
}

/** The cut-off of least cost, that of the model if it is; of others the one nearest to that of exact probabilities. */
function cheapestCut(probabilities, isPositive, [alarm, miss], now) {
  const order = Array.from(probabilities.keys()).sort((i, j) => probabilities[i] - probabilities[j]);
  const ideal = alarm / (alarm + miss);
  let cost = order.reduce((sum, i) => sum + (isPositive(i) ? 0 : alarm), 0);
  let best = cost < now.cost - TIE ? { cut: 0, cost } : now;
  for (let k = 0; k <= order.length; k += 1) {
    const low = k ? probabilities[order[k - 1]] : 0;
    const high = k < order.length ? probabilities[order[k]] : 1;
    if (k) cost += isPositive(order[k - 1]) ? miss : -alarm;
    if (high - low < TIE || cost > best.cost + TIE) continue;
    const cut = shortest(low, high, ideal);
    if (cost < best.cost - TIE || (best !== now && Math.abs(cut - ideal) < Math.abs(best.cut - ideal))) best = { cut, cost };
  }
  return best;
}

/** A number with few decimals between two others: the wanted one if it lies there, or else one in the middle. */
function shortest(low, high, wanted) {
  const middle = wanted > low && wanted < high ? wanted : (low + high) / 2;
  for (let step = 100; step < 1e12; step *= 10) {
    const rounded = Math.round(middle * step) / step;
    if (rounded > low && rounded < high) return rounded;
  }
  return middle;
}

function figure(name, hits, rows) {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", "number", rows ? percentText(hits / rows) : "–"),
    h("td", "number muted", `${whole(hits)} of ${whole(rows)}`),
  );
}

/** A label as Python reads it. */
function literal(label) {
  if (typeof label === "boolean") return label ? "True" : "False";
  return JSON.stringify(label);
}

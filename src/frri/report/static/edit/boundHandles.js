/**
 * Handles on the chart of a condition: bounds are dragged, and what that would do is told on the way. The
 * fields beside the chart do the same for the keyboard.
 */

import { s } from "../core/dom.js";
import { complaint } from "./ruleEdits.js";
import { AXIS, WIDTH } from "../charts/conditionHistogram.js";
import { boundsOf, isStrict, widthOf, within } from "../core/format.js";

/**
 * @param {SVGElement} chart of the condition
 * @param {object} condition
 * @param {object} attribute
 * @param {object} scale
 * @param {{moved: function(Array): void, dropped: function(Array, number): void}} told takes the bounds
 */
export function addHandles(chart, condition, attribute, scale, { moved, dropped }) {
  const exact = boundsOf(condition);
  const [grips, handles] = [[], []];
  const place = (value) => ((value - scale.low) / (scale.high - scale.low)) * WIDTH;
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(widthOf(attribute))));
  exact.forEach((bound, i) => {
    const twin = [1, 0, 3, 2][i];
    // Where core and end coincide one handle is enough.
    const isJoined = bound === exact[twin] || isStrict(bound, exact[twin]);
    const isCore = i === 1 || i === 2;
    if (!Number.isFinite(bound) || (isJoined && !isCore)) return;
    const x = place(bound);
    if (x < -4 || x > WIDTH + 4) return;
    const handle = s("rect", {
      class: isCore ? "handle core" : "handle",
      x: x - 4,
      y: AXIS - 4,
      width: 8,
      height: 16,
      rx: 3,
    });
    // A finger needs more than what is seen.
    const grip = s("rect", { class: "grip", x: x - 12, y: AXIS - 8, width: 24, height: 24 });
    grips.push(grip);
    handles.push(handle);
    for (const part of [grip, handle]) part.addEventListener("pointerdown", (event) => start(event, grip, handle, i));
  });
  chart.append(...grips, ...handles);

  function start(event, grip, handle, i) {
    event.preventDefault();
    const held = event.currentTarget;
    held.setPointerCapture(event.pointerId);
    const frame = chart.getBoundingClientRect();
    let latest = null;
    const at = ({ clientX }) => {
      const share = within((clientX - frame.left) / frame.width, 0, 1);
      const value = Number((scale.low + share * (scale.high - scale.low)).toFixed(Math.min(decimals, 20)));
      const trapezoid = condition.trapezoid.slice();
      trapezoid[i] = value;
      follow(trapezoid, exact, i);
      return complaint(trapezoid) ? null : trapezoid;
    };
    const move = (moving) => {
      const next = at(moving);
      if (!next) return;
      latest = next;
      handle.setAttribute("x", place(latest[i]) - 4);
      grip.setAttribute("x", place(latest[i]) - 12);
      moved(latest);
    };
    const end = () => {
      held.removeEventListener("pointermove", move);
      if (latest) dropped(latest, i);
    };
    held.addEventListener("pointermove", move);
    held.addEventListener("pointerup", end, { once: true });
    held.addEventListener("pointercancel", end, { once: true });
  }
}

/**
 * A bound that coincided with its neighbour (or was one step from it) moves along with it.
 *
 * @param {Array<?number>} trapezoid changed in place
 * @param {number[]} exact the bounds before
 * @param {number} i which one was moved
 */
export function follow(trapezoid, exact, i) {
  const partner = [1, 0, 3, 2][i];
  const joined = exact[i] === exact[partner] || isStrict(exact[i], exact[partner]);
  if (joined || trapezoid[i] === null) trapezoid[partner] = trapezoid[i];
}

/**
 * Elements from names, attributes and children. Texts become text nodes, never markup: whatever a
 * name or a category holds, it is shown as it is.
 *
 * @typedef {any} Child
 */

const SVG = "http://www.w3.org/2000/svg";
/** Names are broken after these signs, and elsewhere only if a part is longer. */
const PARTS = /(?<=[_/]|\p{L}-)/u;
const LONGEST_PART = 16;
/** Such names, and dates, are on one line. */
const SHORT = 10;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\u200f\u202b\u202e\u2067]/u;

/**
 * An HTML element.
 *
 * @param {string} tag
 * @param {string|Object<string, *>} [attributes] its class, or names as in HTML; a function is a listener
 *   ("onclick"), true an attribute without value, null or false none
 * @param {...(Child|Child[])} children
 * @returns {any} an HTMLElement
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 *
 * @param {string} tag
 * @param {string|Object<string, *>} [attributes]
 * @param {...(Child|Child[])} children
 * @returns {any} an SVGElement
 */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * A decorative drawing that is stretched to its place.
 *
 * @param {string} extra its class
 * @param {number} width
 * @param {number} height
 * @param {...(Child|Child[])} children
 * @returns {any} an SVGElement
 */
export function stretched(extra, width, height, ...children) {
  return s("svg", { class: extra, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, children);
}

/**
 * @param {string} extra its class
 * @param {...(Child|Child[])} children
 * @returns {any} an HTMLElement
 */
export function span(extra, ...children) {
  return h("span", { class: extra }, children);
}

/**
 * A name from the data, kept from turning the direction of the text around it, and from breaking within a word.
 *
 * @param {*} name
 * @returns {HTMLElement}
 */
export function named(name) {
  const text = String(name);
  if (text.length <= SHORT) return h("bdi", "name short unbroken", text);
  const parts = text.split(PARTS);
  const isShort = parts.every((part) => part.split(" ").every((word) => word.length <= LONGEST_PART));
  return h("bdi", isShort ? "name short" : "name", parts.flatMap((part, k) => (k ? [h("wbr"), part] : [part])));
}

/**
 * A sentence in parts: plain texts, and names as {name}.
 *
 * @param {Array<string|{name: *}>} parts
 * @returns {Child[]}
 */
export function sentence(parts) {
  return parts.map((part) => (typeof part === "string" ? part : named(part.name)));
}

/**
 * The same sentence as one text.
 *
 * @param {Array<string|{name: *}>} parts
 * @returns {string}
 */
export function plain(parts) {
  return parts.map((part) => (typeof part === "string" ? part : String(part.name))).join("");
}

/**
 * A name for places that take no elements; one with right-to-left letters is kept from turning what follows it.
 *
 * @param {*} name
 * @returns {string}
 */
export function isolate(name) {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : String(name);
}

/**
 * The element with an id.
 *
 * @param {string} id
 * @returns {any} an HTMLElement
 */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * A button.
 *
 * @param {string} text
 * @param {function(): void} onclick
 * @param {string} [extra] its class
 * @param {?string} [label] for screen readers, where the text is not enough
 * @returns {any} an HTMLElement
 */
export function actionButton(text, onclick, extra = "", label = null) {
  return h("button", { type: "button", class: extra || null, "aria-label": label, onclick }, text);
}

/**
 * A paragraph of less weight.
 *
 * @param {...(Child|Child[])} children
 * @returns {any} an HTMLElement
 */
export function muted(...children) {
  return h("p", "muted", children);
}

/**
 * A part of the overview.
 *
 * @param {Child|Child[]} title
 * @param {string} width its class
 * @param {...(Child|Child[])} children
 * @returns {any} an HTMLElement
 */
export function card(title, width, ...children) {
  return h("section", `card ${width}`, h("h2", {}, title), children);
}

/**
 * Put children in the place of those that are there.
 *
 * @param {Element} parent
 * @param {...(Child|Child[])} children
 */
export function put(parent, ...children) {
  parent.replaceChildren(...kept(children));
}

/**
 * Do something that replaces what is inside an element; the focus goes to what is there in its place:
 * the nearest control of the same name, or else the one at the same position.
 *
 * @param {Element} container
 * @param {function(): void} work
 */
export function keepingFocus(container, work) {
  /** @returns {any[]} */
  const reachable = () => [...container.querySelectorAll("button, input, select, textarea")];
  const nameOf = (control) => control.id || control.textContent;
  const place = reachable().indexOf(document.activeElement);
  const name = place < 0 ? null : nameOf(document.activeElement);
  work();
  if (place < 0) return;
  const now = reachable();
  const [nearest] = [...now.keys()]
    .filter((i) => nameOf(now[i]) === name)
    .sort((a, b) => Math.abs(a - place) - Math.abs(b - place));
  now[nearest ?? Math.min(place, now.length - 1)]?.focus({ preventScroll: true });
}

/**
 * A place that scrolls, by keys as well.
 *
 * @param {string} label for screen readers
 * @param {...(Child|Child[])} children
 * @returns {HTMLElement}
 */
export function scrolling(label, ...children) {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, children);
}

/**
 * Say something to screen readers without moving the focus.
 *
 * @param {string} text
 */
export function announce(text) {
  byId("announcements").textContent = text;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(typeof attributes === "string" ? { class: attributes } : attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...kept(children));
  return element;
}

function kept(children) {
  return children
    .flat(2)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "number" ? String(child) : child));
}

/**
 * @param {string} value
 * @param {string} text
 * @returns {HTMLElement}
 */
export function option(value, text) {
  return h("option", { value }, text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/**
 * A control with a label that only screen readers have.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [extra] its class
 * @returns {HTMLElement}
 */
export function field(label, control, extra = "") {
  return h("div", `field ${extra}`, h("label", { for: control.id, class: "hidden" }, label), control);
}

/**
 * A control with a label above it.
 *
 * @param {Child|Child[]} label
 * @param {HTMLElement} control
 * @param {string} [extra]
 * @returns {HTMLElement}
 */
export function labelled(label, control, extra = "") {
  return h("div", `field ${extra}`, h("label", { for: control.id }, label), control);
}

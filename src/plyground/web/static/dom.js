// Small helpers to make elements: nothing else in the page writes markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. Properties that begin with `on` are listeners, all others are attributes.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] false, null and undefined leave an attribute out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, otherwise as `h`.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** @param {string} id @returns {any} the element of that id, which the document has */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the document has no element #${id}`);
  return found;
}

/**
 * Replace what an element holds; the keyboard's focus stays on the element with the same `data-key`.
 * @param {HTMLElement} element
 * @param {...(Node | string | false | null)} children
 */
export function redraw(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.filter(Boolean));
  if (key !== undefined) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** Say something to people who listen to the page. @param {string} text */
export function announce(text) {
  const line = h("p", {}, text); // a new element is spoken even if the text is that of the last one
  const region = byId("announcer");
  region.append(line);
  while (region.childElementCount > 3) region.firstElementChild.remove();
}

/** Show a sentence for some seconds, in the place of the one before; `role=alert` speaks it. @param {string} text */
export function toast(text) {
  const note = h("div", { class: "toast", role: "alert" }, text);
  byId("toasts").replaceChildren(note);
  setTimeout(() => note.remove(), 3000 + 60 * text.length);
}

/** Show what goes on, in the place of a sentence. @param {string} text @returns {() => void} a function that ends it */
export function sign(text) {
  const spinner = h("span", { class: "spinner", "aria-hidden": "true" });
  const note = h("div", { class: "toast", role: "status" }, spinner, text);
  byId("toasts").replaceChildren(note);
  return () => note.remove();
}

/** Remove the sentence that `toast` shows: it no longer holds. */
export function removeToast() {
  byId("toasts").replaceChildren();
}

/** Mark where one is among the pages. @param {string} name of the view; empty: the first one */
export function markPage(name) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Whether the person wants as little motion as possible. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** A button with a text. @param {string} text @param {() => void} onclick @param {Record<string, unknown>} [more] */
export function button(text, onclick, more = {}) {
  return h("button", { type: "button", onclick, ...more }, text);
}

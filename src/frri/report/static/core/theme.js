/** Light or dark: as the system says, until the button is pressed. */

import { recall, remember } from "./memory.js";

const KEY = "frri-theme";

/**
 * @param {HTMLElement} button
 */
export function theme(button) {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () =>
    button.setAttribute("aria-label", isDark() ? "Use light colors" : "Use dark colors");
  const stored = recall("localStorage", KEY);
  if (stored) root.dataset.theme = stored;
  name();
  system.addEventListener("change", name);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("localStorage", KEY, root.dataset.theme);
    name();
  });
}

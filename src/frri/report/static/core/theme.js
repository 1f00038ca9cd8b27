/** Light or dark: as the system says, until the button is pressed. */

const KEY = "frri-theme";

/**
 * @param {HTMLElement} button
 */
export function theme(button) {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () =>
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  const stored = remembered();
  if (stored) root.dataset.theme = stored;
  name();
  system.addEventListener("change", name);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    name();
  });
}

/** Embedded pages may not store anything; then the choice lasts as long as the page. */
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(choice) {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Nothing is lost but the memory of it.
  }
}

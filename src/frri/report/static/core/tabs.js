/** Tabs, as screen readers and keyboards expect them: arrows move, one of them is in the tab order. */

/**
 * @param {HTMLElement} list with buttons of role "tab", each controlling a panel
 * @param {function(string): void} [shown] told the name of the tab that is shown
 * @returns {function(string): void} show a tab by name
 */
export function tabs(list, shown = () => {}) {
  /** @type {any[]} */
  const all = [...list.querySelectorAll("[role=tab]")];
  const show = (name) => {
    for (const tab of all) {
      const isShown = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isShown;
    }
    shown(name);
  };
  all.forEach((tab, i) => {
    tab.addEventListener("click", () => show(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = all[(to + all.length) % all.length];
      show(next.dataset.tab);
      next.focus();
    });
  });
  return show;
}

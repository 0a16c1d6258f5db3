// Light, dark or the system's choice. Loaded in the head without defer, so that no page flashes.
(() => {
  "use strict";
  const KEY = "freshet-theme";
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is switched off: follow the system
    }
  }

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  }

  function label(button) {
    button.setAttribute("aria-pressed", String(isDark()));
    button.title = isDark() ? "Change to the light theme" : "Change to the dark theme";
  }

  function toggle(button) {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem(KEY, root.dataset.theme);
    } catch {
      // the choice holds for this page only
    }
    label(button);
    document.dispatchEvent(new CustomEvent("freshet:theme"));
  }

  const choice = stored();
  if (choice === "light" || choice === "dark") root.dataset.theme = choice;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    label(button);
    button.addEventListener("click", () => toggle(button));
    dark.addEventListener("change", () => {
      label(button);
      document.dispatchEvent(new CustomEvent("freshet:theme"));
    });
  });
})();

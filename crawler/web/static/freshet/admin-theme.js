// Freshet: light or dark in Django's admin, in place of its admin/js/theme.js. Loaded in <head> without defer.
// It reads and writes the cookie of Freshet's own pages (app.js), so that both are always the same.
(() => {
  "use strict";
  const root = document.documentElement;
  const YEAR = 31536000;
  const NEXT = { auto: "light", light: "dark", dark: "auto" };

  root.dataset.theme = /(?:^|; )freshet-theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1] ?? "auto";

  const cycle = () => {
    const theme = NEXT[root.dataset.theme];
    root.dataset.theme = theme;
    const secure = location.protocol === "https:" ? "; secure" : "";
    const [value, age] = theme === "auto" ? ["", 0] : [theme, YEAR];
    document.cookie = `freshet-theme=${value}; path=/; max-age=${age}; samesite=lax${secure}`;
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest?.(".theme-toggle")) cycle();
  });
})();

// In the page, once "Watch this part" was pressed: shows what the pointer or the arrow keys are on, and tells
// background.js the selector of what was clicked. It is that of the server's picker (pick-frame.js).
(() => {
  if (globalThis.stopFreshetPick) globalThis.stopFreshetPick();
  const api = globalThis.browser ?? globalThis.chrome;
  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "closed" });
  const box = document.createElement("div");
  const bar = document.createElement("div");
  host.style.cssText = "all:initial;position:fixed;inset:0;z-index:2147483647;pointer-events:none";
  box.style.cssText = "position:fixed;outline:3px solid #0b6763;background:#0b676326;border-radius:2px";
  bar.style.cssText = "position:fixed;inset-inline:0;bottom:0;padding:12px 16px;text-align:center;"
    + "background:#1d2526;color:#fff;font:15px/1.4 system-ui,sans-serif";
  bar.setAttribute("role", "status");
  bar.lang = api.i18n.getMessage("language");
  bar.textContent = api.i18n.getMessage("pick_help");
  shadow.append(box, bar);
  document.documentElement.append(host);

  let on = null;
  const isPart = (element) =>
    element instanceof Element && element !== document.documentElement && element !== host;
  const draw = () => {
    const sides = on?.getBoundingClientRect();
    for (const side of ["left", "top", "width", "height"]) box.style[side] = `${sides?.[side] ?? 0}px`;
  };
  const move = (element) => {
    if (isPart(element)) on = element;
    draw();
  };

  const isOnly = (selector) => document.querySelectorAll(selector).length === 1;
  const isSpeaking = (name) => /^[A-Za-z][A-Za-z]+(?:[-_]{1,2}[A-Za-z]+)*$/.test(name || "");
  const ownSelectors = (element) => {
    const tag = element.localName;
    const classes = [...element.classList].filter(isSpeaking).slice(0, 8);
    const item = element.getAttribute("itemprop");
    return [
      ...(isSpeaking(item) ? [`[itemprop=${item}]`] : []),
      ...(isSpeaking(element.id) ? [`#${element.id}`] : []),
      ...classes.map((name) => `.${name}`), ...classes.map((name) => `${tag}.${name}`),
      ...(["h1", "main", "article", "table"].includes(tag) ? [tag] : []),
    ];
  };
  const step = (element) => {
    const { localName, parentElement } = element;
    const tag = CSS.escape(localName);
    const same = [...(parentElement?.children ?? [])].filter((child) => child.localName === localName);
    return same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(element) + 1})` : tag;
  };
  // Browsers put a tbody into tables that have none, so that it is no step of its own.
  const pathOf = (element) => {
    const steps = [];
    for (let here = element; isPart(here) && here !== document.body; here = here.parentElement) {
      if (here.localName === "tbody") continue;
      const id = here.id && `#${CSS.escape(here.id)}`;
      steps.unshift(id && isOnly(id) ? id : step(here));
      if (id && isOnly(id)) break;
    }
    const joined = (before, part) => before + (/^t[rdh]\b/.test(part) ? " " : " > ") + part;
    return steps.length ? steps.reduce(joined) : "body";
  };
  const selectorOf = (element) => {
    const own = ownSelectors(element);
    const only = own.find(isOnly);
    if (only) return only;
    const names = [...own, CSS.escape(element.localName)];
    for (let above = element.parentElement; above && above !== document.body; above = above.parentElement) {
      for (const outer of ownSelectors(above)) {
        const inner = names.map((name) => `${outer} ${name}`).find(isOnly);
        if (inner) return inner;
      }
    }
    return pathOf(element);
  };

  const stopping = new AbortController();
  const stop = globalThis.stopFreshetPick = () => {
    stopping.abort();
    host.remove();
  };
  const choose = () => {
    if (!on) return;
    stop();
    api.runtime.sendMessage({ part: selectorOf(on) });
  };
  const listen = (name, listener) =>
    window.addEventListener(name, listener, { capture: true, passive: false, signal: stopping.signal });
  const withhold = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const ways = {
    ArrowUp: () => on?.parentElement,
    ArrowDown: () => (on ?? document.body).firstElementChild,
    ArrowLeft: () => on?.previousElementSibling,
    ArrowRight: () => on?.nextElementSibling,
  };
  for (const name of ["scroll", "resize"]) listen(name, draw);
  for (const name of ["pointerdown", "pointerup", "mousedown", "mouseup", "auxclick"]) listen(name, withhold);
  listen("pointermove", (event) => move(event.target));
  listen("click", (event) => {
    withhold(event);
    move(event.target);
    choose();
  });
  listen("keydown", (event) => {
    if (event.key === "Escape") stop();
    else if (event.key === "Enter") choose();
    else if (!ways[event.key]) return;
    else {
      move(ways[event.key]());
      on?.scrollIntoView({ block: "nearest" });
      draw();
    }
    withhold(event);
  });
})();

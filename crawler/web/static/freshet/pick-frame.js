// In the copy of a page: shows what the pointer or the arrow keys are on, and tells the page around it what was chosen.
"use strict";
(() => {
  const style = document.createElement("style");
  style.textContent = ".freshet-on{outline:3px solid #0b6763!important;outline-offset:-1px;cursor:pointer!important}.freshet-chosen{outline:3px dashed #b02318!important;background:#fdeeb0!important;color:#182021!important}";
  document.head.append(style);
  for (const field of document.querySelectorAll("a, button, input, select, textarea, summary")) field.tabIndex = -1;
  let on = null;
  const isPart = (element) => element instanceof Element && element !== document.documentElement;
  const move = (element) => {
    if (!isPart(element)) return;
    on?.classList.remove("freshet-on");
    on = element;
    on.classList.add("freshet-on");
  };
  const quoted = (name) => CSS.escape(name);
  const step = (element) => {
    const tag = element.tagName.toLowerCase();
    const parent = element.parentElement;
    if (!parent) return tag;
    const same = [...parent.children].filter((child) => child.tagName === element.tagName);
    return same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(element) + 1})` : tag;
  };
  const isOnly = (selector) => { try { return document.querySelectorAll(selector).length === 1; } catch { return false; } };
  // Browsers put a tbody into tables that have none, so that it is no step of its own.
  const pathOf = (element) => {
    const steps = [];
    for (let here = element; isPart(here) && here.tagName !== "BODY"; here = here.parentElement) {
      if (here.tagName === "TBODY") continue;
      const id = here.id && isOnly(`#${quoted(here.id)}`) ? `#${quoted(here.id)}` : "";
      steps.unshift(id || step(here));
      if (id) break;
    }
    return steps.map((text, number) => (number && /^t[rdh]\b/.test(text) ? ` ${text}` : number ? ` > ${text}` : text)).join("").trim() || "body";
  };
  const classOf = (element) => [...element.classList].find((name) => !name.startsWith("freshet-") && isNaN(parseInt(name.slice(-1), 10)));
  // Selectors that speak, as the form for a new watch has them (`part_candidates.py`): the same names, in the same order.
  const isSpeaking = (name) => /^[A-Za-z][A-Za-z]+(?:[-_]{1,2}[A-Za-z]+)*$/.test(name || "");
  const ownSelectors = (element) => {
    const tag = element.tagName.toLowerCase();
    const classes = [...element.classList].filter((name) => isSpeaking(name) && !name.startsWith("freshet-")).slice(0, 8);
    const item = element.getAttribute("itemprop");
    return [
      ...(isSpeaking(item) ? [`[itemprop=${item}]`] : []), ...(isSpeaking(element.id) ? [`#${element.id}`] : []),
      ...classes.map((name) => `.${name}`), ...classes.map((name) => `${tag}.${name}`),
      ...(["h1", "main", "article", "table"].includes(tag) ? [tag] : []),
    ];
  };
  const selectorOf = (element) => {
    const own = ownSelectors(element);
    const only = own.find(isOnly);
    if (only) return only;
    for (let above = element.parentElement; isPart(above) && above.tagName !== "BODY"; above = above.parentElement) {
      for (const outer of ownSelectors(above)) {
        const inner = [...own, element.tagName.toLowerCase()].map((name) => `${outer} ${name}`).find(isOnly);
        if (inner) return inner;
      }
    }
    return pathOf(element);
  };
  const alike = (element) => {
    const name = classOf(element);
    return name ? `${element.tagName.toLowerCase()}.${quoted(name)}` : pathOf(element).replace(/:nth-of-type\(\d+\)$/, "");
  };
  const choose = () => {
    if (!isPart(on)) return;
    for (const old of document.querySelectorAll(".freshet-chosen")) old.classList.remove("freshet-chosen");
    on.classList.add("freshet-chosen");
    const similar = alike(on);
    parent.postMessage({
      freshet: "part", part: `css:${selectorOf(on)}`, text: on.innerText.trim().slice(0, 400),
      alike: `css:${similar}`, number: document.querySelectorAll(similar).length,
    }, "*");
  };
  document.addEventListener("pointermove", (event) => move(event.target), true);
  for (const name of ["click", "submit", "auxclick"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (name !== "click") return;
      if (event.target !== document && isPart(event.target)) move(event.target);
      choose();
    }, true);
  }
  document.addEventListener("keydown", (event) => {
    const steps = {
      ArrowUp: () => on?.parentElement, ArrowDown: () => on?.firstElementChild ?? document.body.firstElementChild,
      ArrowLeft: () => on?.previousElementSibling, ArrowRight: () => on?.nextElementSibling,
    };
    if (steps[event.key]) {
      event.preventDefault();
      const next = on ? steps[event.key]() : document.body.firstElementChild;
      if (isPart(next) && next.tagName !== "HEAD") { move(next); next.scrollIntoView({ block: "nearest" }); }
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose();
    }
  });
})();

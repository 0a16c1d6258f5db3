// Keys for the reading list: j k o m s / ?. Everything works without them, too.
const list = () => [...document.querySelectorAll("[data-reading] > li")];
const current = () => document.activeElement?.closest?.("[data-reading] > li");
const help = document.getElementById("keys");

const move = (step) => {
  const rows = list();
  if (!rows.length) return;
  const at = rows.indexOf(current());
  const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
  next.querySelector("a.heading").focus();
  next.scrollIntoView({ block: "nearest" });
};

const actions = {
  j: () => move(1),
  k: () => move(-1),
  o: () => current()?.querySelector("a.heading").click(),
  m: () => current()?.querySelector("[data-mark=read]").click(),
  s: () => current()?.querySelector("[data-mark=star]").click(),
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
});

// After a swap the button that was pressed is a new one: the focus stays in its row.
document.addEventListener("htmx:afterSwap", (event) => {
  const pressed = event.detail.requestConfig?.elt?.id;
  if (pressed) document.getElementById(pressed)?.focus();
});

const button = document.querySelector("[data-keys]");
button.hidden = false;
button.addEventListener("click", () => help.showModal());

// Beside the copy of a page: shows what was chosen in it, and puts it into the form.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const frame = document.getElementById("copy");
  const chosen = document.getElementById("chosen");
  const similar = document.getElementById("similar");
  window.addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || event.data?.freshet !== "part") return;
    const { part, text, alike, number } = event.data;
    if (typeof part !== "string" || typeof text !== "string" || typeof alike !== "string") return;
    document.getElementById("part").value = part.slice(0, 500);
    document.getElementById("text").textContent = text;
    chosen.hidden = false;
    similar.hidden = !(Number(number) > 1);
    similar.dataset.part = alike.slice(0, 500);
    document.getElementById("number").textContent = String(Number(number) || 0);
  });
  similar?.addEventListener("click", () => { document.getElementById("part").value = similar.dataset.part; });
});

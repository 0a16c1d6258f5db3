// Rows of a table picked for a bulk action: one box for all of them, and how many there are.
(() => {
  "use strict";

  function count(form) {
    const boxes = [...form.querySelectorAll("[data-pick]")];
    const picked = boxes.filter((box) => box.checked).length;
    const all = form.querySelector("[data-pick-all]");
    if (all) {
      all.checked = picked > 0 && picked === boxes.length;
      all.indeterminate = picked > 0 && picked < boxes.length;
    }
    const output = form.querySelector("[data-picked]");
    if (output) output.textContent = picked ? `${picked} picked` : "none picked";
    form.querySelectorAll("[data-needs-picked]").forEach((button) => {
      button.disabled = picked === 0;
    });
  }

  document.addEventListener("change", (event) => {
    const form = event.target.closest("[data-picking]");
    if (!form) return;
    if (event.target.matches("[data-pick-all]")) {
      form.querySelectorAll("[data-pick]").forEach((box) => {
        box.checked = event.target.checked;
      });
    }
    count(form);
  });

  const recount = () => document.querySelectorAll("[data-picking]").forEach(count);
  document.addEventListener("DOMContentLoaded", recount);
  document.addEventListener("htmx:afterSwap", recount);
})();

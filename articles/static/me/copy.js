// "Copy" beside what is to be typed elsewhere; without scripts it can be selected by hand.
for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
document.addEventListener("htmx:afterSettle", () => {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    window.freshetSay(window.freshetWords("Copied."));
  } catch {
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    window.freshetSay(window.freshetWords("It is selected: copy it with the keyboard."));
  }
});

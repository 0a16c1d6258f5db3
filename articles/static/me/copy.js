// "Copy" beside the address of a personal feed; without scripts the address can be selected by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const address = document.getElementById(button.dataset.copy);
    address.select();
    const told = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(address.value);
      told.textContent = window.freshetWords("The address is copied.");
    } catch {
      told.textContent = window.freshetWords("The address is selected: copy it with the keyboard.");
    }
  });
}

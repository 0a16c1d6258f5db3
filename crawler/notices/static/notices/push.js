// "Show them on this device": this browser becomes a place for messages (Push API).
"use strict";
(() => {
  const button = document.querySelector("[data-push]");
  const t = window.freshetWords;
  if (!button || !("PushManager" in window) || !navigator.serviceWorker) return;
  button.hidden = false;
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  const say = (words) => { document.getElementById("push-said").textContent = words; };
  button.addEventListener("click", async () => {
    try {
      if ((await Notification.requestPermission()) !== "granted") return say(t("The browser does not allow notifications here."));
      await navigator.serviceWorker.register(document.querySelector("link[rel=manifest]").href.replace("manifest.webmanifest", "worker.js"));
      const registration = await navigator.serviceWorker.ready;
      const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(button.dataset.key) });
      const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
      const answer = await fetch(button.dataset.push, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token },
        body: JSON.stringify({ ...subscription.toJSON(), name: navigator.userAgentData?.platform || navigator.platform }),
      });
      if (!answer.ok) throw new Error(`${answer.status}`);
      location.reload();
    } catch (error) {
      say(t("This device could not be added: {reason}", { reason: error.message }));
    }
  });
})();

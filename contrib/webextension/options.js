// The settings: where the server is, with which token; keeping them tries them.
import { api, hostPattern, localize, serverAddress, settings, text, tryServer } from "./freshet.js";

const server = document.getElementById("server");
const token = document.getElementById("token");
const status = document.getElementById("status");

function say({ ok, sentence }) {
  status.className = ok ? "good" : "bad";
  status.textContent = sentence;
}

/** Ask for the right to reach the server: it must be the first thing that a press does. */
async function isAllowed(address) {
  try {
    return await api.permissions.request({ origins: [hostPattern(address)] });
  } catch {
    return false;
  }
}

/** Give back the right to reach the server before. */
async function leave(before, address) {
  if (!before || hostPattern(before) === hostPattern(address)) return;
  await api.permissions.remove({ origins: [hostPattern(before)] }).catch(() => {});
}

localize();
settings().then((kept) => {
  // They may come after the first key has been pressed: what somebody has typed stays.
  server.value ||= kept.server;
  token.value ||= kept.token;
});
document.getElementById("options").addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = serverAddress(server.value);
  if (!address) return say({ ok: false, sentence: text("no_address") });
  if (!(await isAllowed(address))) return say({ ok: false, sentence: text("not_allowed") });
  const before = await settings();
  await api.storage.local.set({ server: address, token: token.value.trim() });
  await leave(before.server, address);
  server.value = address;
  say(await tryServer());
});

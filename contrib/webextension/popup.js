// The popup: saves the page of the tab, follows its site, or lets a part of it be picked.
import { api, isPage, localize, openForm, savePage, settings, text } from "./freshet.js";

// The popup of the toolbar is about the active tab. Opened as a page, ?tab=ID says about which.
const tabId = Number(new URLSearchParams(location.search).get("tab"));
const status = document.getElementById("status");
const buttons = document.querySelectorAll("#save button");

function say({ ok, sentence }) {
  status.className = ok ? "good" : "bad";
  status.textContent = sentence;
}

const fail = (name) => say({ ok: false, sentence: text(name) });

/** Return the tab, or say why there is nothing to do with it. */
async function readyTab() {
  const { server, token } = await settings();
  if (!server || !token) return fail("no_server");
  const query = { active: true, currentWindow: true };
  const tab = tabId ? await api.tabs.get(tabId) : (await api.tabs.query(query))[0];
  return isPage(tab?.url) ? tab : fail("no_page");
}

const close = () => { if (!tabId) window.close(); };

async function save(tab) {
  const tags = document.getElementById("tags").value.split(/[,、，]/).map((tag) => tag.trim()).filter(Boolean);
  const note = document.getElementById("note").value.trim();
  say(await savePage({ url: tab.url, title: tab.title ?? "", tags, note }));
}

async function follow(tab) {
  await openForm("/add/", { url: tab.url }, tab);
  close();
}

async function watch(tab) {
  try {
    await api.scripting.executeScript({ target: { tabId: tab.id }, files: ["pick.js"] });
  } catch {
    return fail("no_access");
  }
  await api.tabs.update(tab.id, { active: true });
  close();
}

/** Do what a button is for, with all of them out of reach meanwhile. */
async function act(action) {
  const tab = await readyTab();
  if (!tab) return;
  for (const button of buttons) button.disabled = true;
  try {
    await action(tab);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** Say at once what stands in the way, or what went wrong when the menu was used. */
async function begin() {
  const tab = await readyTab();
  if (tab && (await api.action.getBadgeText({ tabId: tab.id })) === "!") {
    say({ ok: false, sentence: await api.action.getTitle({ tabId: tab.id }) });
  }
}

localize();
document.getElementById("save").addEventListener("submit", (event) => {
  event.preventDefault();
  act(save);
});
document.getElementById("follow").addEventListener("click", () => act(follow));
document.getElementById("watch").addEventListener("click", () => act(watch));
document.getElementById("options").addEventListener("click", () => api.runtime.openOptionsPage());
begin();

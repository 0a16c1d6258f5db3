// Menus of pages, links and selections, and the form that opens once a part was picked.
import { api, isPage, openForm, savePage, settings, text } from "./freshet.js";

const MAX_SELECTION = 2000;

api.runtime.onInstalled.addListener(async () => {
  await api.contextMenus.removeAll();
  const patterns = ["http://*/*", "https://*/*"];
  const page = { documentUrlPatterns: patterns, contexts: ["page", "selection"] };
  api.contextMenus.create({ id: "page", title: text("menu_page"), ...page });
  const link = { targetUrlPatterns: patterns, contexts: ["link"] };
  api.contextMenus.create({ id: "link", title: text("menu_link"), ...link });
});

api.contextMenus.onClicked.addListener(async (info, tab) => {
  const isLink = info.menuItemId === "link";
  const page = isLink ? { url: info.linkUrl } : { url: info.pageUrl, title: tab.title };
  const selection = (info.selectionText ?? "").trim().slice(0, MAX_SELECTION);
  if (selection) page.note = text("quoted", selection);
  const { ok, sentence } = await savePage(page);
  await tell(tab.id, ok, sentence);
  const { server, token } = await settings();
  if (!server || !token) await api.runtime.openOptionsPage();
});

/** Mark the button of the tab: the popup says the sentence of a failure when it is opened. */
async function tell(tabId, ok, sentence) {
  await api.action.setBadgeBackgroundColor({ tabId, color: ok ? "#1f6b3d" : "#b02318" });
  await api.action.setBadgeText({ tabId, text: ok ? "✓" : "!" });
  await api.action.setTitle({ tabId, title: sentence });
}

api.runtime.onMessage.addListener((message, sender) => {
  if (sender.id !== api.runtime.id || !sender.tab || !isPage(sender.url)) return;
  if (typeof message?.part === "string") {
    openForm("/sites/new/", { url: sender.url, part: `css:${message.part}` }, sender.tab);
  }
});

// What the pages and the background script share: texts, settings, and the one request that saves a page.

// Both names return promises in their own browser.
export const api = globalThis.browser ?? globalThis.chrome;

const MAX_WAIT_MS = 20_000;
const MAX_TITLE = 500;

export const text = (name, ...values) => api.i18n.getMessage(name, values.map(String));

/** Return `{server, token}`; both are empty until they are set. */
export const settings = () => api.storage.local.get({ server: "", token: "" });

/** Put the texts of the browser's language into a page. */
export function localize() {
  document.documentElement.lang = text("language");
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = text(element.dataset.text);
  }
}

/** Return the address of a server as it is kept, or "" if it is none. */
export function serverAddress(typed) {
  const address = typed.trim();
  try {
    const url = new URL(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`);
    if (!["http:", "https:"].includes(url.protocol) || url.username || url.password) return "";
    return (url.origin + url.pathname).replace(/\/+$/, "");
  } catch {
    return "";
  }
}

/** Return the pattern of a server's host. Firefox knows no ports in patterns. */
export function hostPattern(server) {
  const url = new URL(server);
  return `${url.protocol}//${url.hostname}/*`;
}

export const isPage = (url) => /^https?:\/\//i.test(url ?? "");

/** Open a page of the server with the address `url` in its form, beside the tab. */
export async function openForm(path, fields, tab) {
  const { server } = await settings();
  const query = new URLSearchParams(fields);
  await api.tabs.create({ url: `${server}${path}?${query}`, index: tab.index + 1 });
}

/** Save a page: `{url, title, tags, note}`. Returns `{ok, sentence}`. */
export async function savePage({ title = "", ...page }) {
  const { status, body } = await post("/api/saved/", { ...page, title: title.slice(0, MAX_TITLE) });
  if (status === 201 && body.id) return { ok: true, sentence: text("saved") };
  if (status === 200 && body.id) return { ok: true, sentence: text("saved_before") };
  return { ok: false, sentence: problem(status, body) };
}

/** Find out whether pages can be saved, without saving one. Returns `{ok, sentence}`. */
export async function tryServer() {
  // Rights are looked at before the address, so that an empty one is refused only to a token that may save.
  const { status, body } = await post("/api/saved/", { url: "" });
  if (status === 400 && body.url) return { ok: true, sentence: text("works") };
  return { ok: false, sentence: problem(status, body) };
}

/** Send JSON with the token. Returns `{status, body}`; a status in words is a failure of our own. */
async function post(path, content) {
  const { server, token } = await settings();
  if (!server || !token) return { status: "no_server", body: {} };
  let response;
  try {
    response = await fetch(server + path, {
      method: "POST",
      headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(content),
      credentials: "omit",
      redirect: "manual", // a token goes to the address that the person wrote, and no further
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
  } catch {
    return { status: "no_network", body: {} };
  }
  if (response.type === "opaqueredirect") return { status: "redirected", body: {} };
  const body = await response.json().catch(() => null);
  if (body === null) return { status: response.status < 500 ? "not_freshet" : response.status, body: {} };
  return { status: response.status, body };
}

function problem(status, body) {
  if (typeof status === "string") return text(status);
  if (status === 400) return text(body.url ? "address_refused" : "fields_refused");
  const names = { 200: "not_freshet", 401: "token_refused", 403: "token_reads_only", 404: "not_freshet" };
  return names[status] ? text(names[status]) : text("other_status", status);
}

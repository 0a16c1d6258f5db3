{% load static %}// Freshet without a network: the files of the pages, and one page with the newest unread articles.
"use strict";
const FILES = [{% for name in files %}"{% static name %}"{% if not forloop.last %}, {% endif %}{% endfor %}];
const VERSION = "{{ version }}";
const SHELL = `freshet-files-${VERSION}`;
const KEPT = "freshet-articles";
const OFFLINE = "{% url 'read-offline' %}";
const MAX_PICTURES = 200;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== SHELL && name !== KEPT) await caches.delete(name);
    await self.clients.claim();
  })());
});

const keep = async () => {
  const answer = await fetch(OFFLINE, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return;
  const page = await answer.clone().text();
  const cache = await caches.open(KEPT);
  await cache.put(OFFLINE, answer);
  const pictures = [...page.matchAll(/src="([^"]*\/img\/[^"]+)"/g)].slice(0, MAX_PICTURES);
  const wanted = new Set(pictures.map((match) => match[1].replaceAll("&amp;", "&")));
  for (const request of await cache.keys()) {
    const url = new URL(request.url);
    if (url.pathname !== OFFLINE && !wanted.has(url.pathname + url.search)) await cache.delete(request);
  }
  for (const address of wanted) {
    if (await cache.match(address)) continue;
    const picture = await fetch(address).catch(() => null);
    if (picture?.ok) await cache.put(address, picture);
  }
};

self.addEventListener("push", (event) => {
  const { title, text, url, id } = event.data?.json() ?? {};
  if (title) event.waitUntil(self.registration.showNotification(title, { body: text, tag: id, data: { url }, icon: "{% static 'freshet/icon-192.png' %}" }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data?.url || "{% url 'read' %}"));
});

self.addEventListener("message", (event) => {
  if (event.data === "keep") event.waitUntil(keep().catch(() => {}));
  if (event.data === "forget") event.waitUntil(caches.delete(KEPT));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.method === "POST" && url.pathname.endsWith("/logout/")) event.waitUntil(caches.delete(KEPT));
  if (request.method !== "GET") return;
  if (request.mode === "navigate") {
    event.respondWith(fetch(request).catch(async () => (await caches.match(OFFLINE)) ?? Response.error()));
  } else if (url.pathname.startsWith("{% get_static_prefix %}")) {
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  } else if (url.pathname.startsWith("{{ root }}img/")) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
  }
});

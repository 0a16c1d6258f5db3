// Freshet: what HTML cannot do alone. Loaded in <head> without defer.
// htmx makes the requests that carry hx-* attributes; this file moves, opens, remembers looks, and hears keys.
(() => {
  "use strict";
  const root = document.documentElement;
  const $ = (query, from = document) => from.querySelector(query);
  const $$ = (query, from = document) => [...from.querySelectorAll(query)];
  const YEAR = 31536000;
  const ROOT = new URL($("link[rel=manifest]")?.href ?? "/", location).pathname.replace(/[^/]*$/, "");

  // Sentences are English here; a page in another language brings its own (`script_words`).
  let translations;
  const t = (words, values = {}) => {
    translations ??= JSON.parse($("#words")?.textContent || "{}");
    return (translations[words] ?? words).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  };
  window.freshetWords = t;

  // Looks are cookies, which the server puts on <html>: the first paint is right already.
  const remember = (name, value) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `freshet-${name}=${encodeURIComponent(value || "")}; path=/; max-age=${value ? YEAR : 0}; samesite=lax${secure}`;
  };
  const set = (name, value) => {
    if (value) root.dataset[name] = value;
    else delete root.dataset[name];
    remember(name, value);
  };

  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.includes(`freshet-zone=${encodeURIComponent(zone)}`)) remember("zone", zone);

  const say = (words) => {
    const toast = $("#toast");
    if (!toast) return;
    $("span", toast).textContent = words;
    const form = $("form", toast);
    if (form) form.hidden = true;
    show(toast);
  };
  window.freshetSay = (words) => say(words);
  const noteIn = (place, words) => {
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = words;
    place.replaceChildren(note);
    place.hidden = false;
  };
  // What failed is said beside what was pressed, until it succeeds there: below a row, at the end of a form, or
  // before what would have been filled.
  const failed = new WeakMap();
  const placeOf = ({ elt, target, requestConfig }) => {
    const line = requestConfig?.triggeringEvent?.target?.closest?.(".setline");
    if (line) return [line, "after"];
    const item = elt?.closest?.(".item");
    if (item) return [item, "after"];
    const form = elt?.closest?.("form");
    if (form && !form.closest(".bar, .menu, #toast")) return [form, "append"];
    if (target?.id === "reader") return [target, "prepend"];
    if (target?.closest("#main") && target.id !== "main" && !target.closest("tr, .menu")) return [target, "before"];
    return [$("#main .page") ?? $("#list") ?? $("#main"), "prepend"];
  };
  const noteBeside = (detail, words) => {
    const [place, where] = placeOf(detail);
    const note = document.createElement(place?.matches("li") ? "li" : "p");
    note.className = "note bad";
    note.dataset.failed = "";
    note.textContent = words;
    if (!place || failed.get(place)?.isConnected) return;
    failed.set(place, note);
    place[where](note);
    // A star that was drawn before the answer is drawn again as it is.
    const star = place.matches(".item[aria-current]") && $(".acts .star", place);
    if (star) for (const button of $$(".reader .star")) drawStar(button, star.getAttribute("aria-pressed") === "true");
  };
  const drawStar = (button, on) => {
    button.setAttribute("aria-pressed", String(on));
    $("use", button).setAttribute("href", on ? "#i-starred" : "#i-star");
  };
  // What was done is told once: a page that is opened while it can still be undone does not tell it again.
  let toldHere = "";
  const wasTold = (toast) => {
    const { token } = toast.dataset;
    if (!token || token === toldHere) return false;
    toldHere = token;
    try {
      const told = sessionStorage.getItem("freshet.told") === token;
      sessionStorage.setItem("freshet.told", token);
      return told;
    } catch { return false; /* a private window */ }
  };
  const show = (toast) => {
    clearTimeout(show.timer);
    if (wasTold(toast)) {
      toast.hidden = true;
      return;
    }
    toast.hidden = true;
    void toast.offsetWidth; // the line that ebbs away begins anew
    toast.hidden = false;
    const hide = () => {
      if (toast.matches(":hover, :focus-within")) show.timer = setTimeout(hide, 2000);
      else toast.hidden = true;
    };
    show.timer = setTimeout(hide, 1000 * (Number(toast.dataset.seconds) || 10));
  };

  const isWide = () => matchMedia("(min-width: 47.5rem)").matches;
  const items = () => $$(".item");
  const current = () => $(".item[aria-current]");
  const choose = (item) => {
    if (!item) return;
    current()?.removeAttribute("aria-current");
    item.setAttribute("aria-current", "true");
    item.scrollIntoView({ block: "nearest" });
    $(".t", item).focus({ preventScroll: true });
    if (items().indexOf(item) > items().length - 5) $("[data-more]")?.click();
  };
  const open = (item) => {
    if (!item) return;
    choose(item);
    const link = $(".t", item);
    if ($("#reader") && isWide() && window.htmx) {
      root.classList.remove("list-only");
      $("#main")?.classList.add("open");
      link.click();
    } else location.assign(link.href);
  };
  const step = (by, opens) => {
    const all = items();
    const at = all.indexOf(current());
    if (!isWide() || !all.length) {
      const link = $(`.reader a[data-do="${by > 0 ? "next" : "prev"}"]`);
      if (link) location.assign(link.href);
      return;
    }
    const item = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
    if (opens) open(item);
    else choose(item);
  };
  const press = (query) => {
    const button = $(query);
    if (button) button.click();
    return Boolean(button);
  };

  const closeMenus = (except) => {
    for (const menu of $$("details.menu[open]")) if (menu !== except) menu.open = false;
  };
  const closeDrawer = (event) => {
    event?.preventDefault();
    $("#drawer")?.classList.remove("open");
    if (location.hash === "#drawer") history.replaceState(null, "", location.pathname + location.search);
    $('[data-do="drawer"]')?.focus();
  };

  const actions = {
    theme() {
      const next = { undefined: "light", light: "dark", dark: "" }[root.dataset.theme];
      set("theme", next);
      document.dispatchEvent(new CustomEvent("freshet:theme"));
      say({ light: t("Colours: light."), dark: t("Colours: dark.") }[next] || t("Colours: as the system has them."));
    },
    keys() {
      const keys = $("#keys");
      if (keys?.open) keys.close();
      else keys?.showModal();
    },
    side: () => set("side", root.dataset.side === "closed" ? "" : "closed"),
    drawer(event) {
      event.preventDefault();
      const drawer = $("#drawer");
      drawer.classList.add("open");
      $("a, summary", drawer)?.focus();
    },
    "close-drawer": closeDrawer,
    next(event) {
      if (!isWide() || !current()) return;
      event.preventDefault();
      step(1, true);
    },
    prev(event) {
      if (!isWide() || !current()) return;
      event.preventDefault();
      step(-1, true);
    },
    // Marks of the open article are made in its row, which answers with itself and the counts.
    star(event) {
      const row = openRow();
      if (!row || !window.htmx) return;
      event.preventDefault();
      const on = $(".acts .star", row).getAttribute("aria-pressed") !== "true";
      $(".acts .star", row).click();
      for (const button of $$(".reader .star")) drawStar(button, on);
    },
    unread(event) {
      const row = openRow();
      if (!row || !window.htmx) return;
      event.preventDefault();
      $(".acts .mark", row).click();
    },
    // A film plays here after a click, and only then does its publisher hear of the reader.
    play(event) {
      const button = event.target.closest("button");
      const frame = document.createElement("iframe");
      frame.src = button.dataset.film;
      frame.title = button.dataset.title;
      frame.allow = "fullscreen; picture-in-picture; encrypted-media";
      frame.referrerPolicy = "strict-origin-when-cross-origin";
      frame.className = "film";
      button.replaceWith(frame);
      frame.focus();
    },
    "star-later"(event) {
      const button = event.target.closest("button");
      button.setAttribute("aria-pressed", "true");
      later.add("starred", button.closest("[data-offline]").dataset.offline);
      say(t("Starred. It is sent when the network is back."));
    },
    bookmark(event) {
      event.preventDefault();
      say(t("Drag it to the bookmarks of your browser."));
    },
    share() {
      if (navigator.share) navigator.share({ title: document.title, url: location.href }).catch(() => {});
      else actions.copy();
    },
    mastodon() {
      const kept = /freshet-mastodon=([^;]+)/.exec(document.cookie)?.[1] ?? "";
      const given = kept || prompt(t("Your Mastodon server, such as mastodon.social")) || "";
      const host = given.trim().replace(/^https:\/\//, "").replace(/\/.*$/, "");
      if (!host) return;
      if (!/^[a-z0-9.-]+\.[a-z]{2,}(:\d+)?$/i.test(host)) return say(t("That is no server's name."));
      remember("mastodon", host);
      const text = `${$(".art h1")?.textContent ?? ""} ${$(".orig")?.href ?? location.href}`;
      window.open(`https://${host}/share?text=${encodeURIComponent(text)}`, "_blank", "noopener");
    },
    copy() {
      closeMenus();
      navigator.clipboard?.writeText($(".orig")?.href || location.href).then(() => say(t("The link is copied.")));
    },
    "close-article"(event) {
      if (!isWide() || !$("#list")) return;
      event.preventDefault();
      root.classList.toggle("list-only");
    },
  };
  const openRow = () => {
    const article = $(".art[data-article]");
    return article && isWide() ? document.getElementById(`a${article.dataset.article}`) : null;
  };

  // A story opens below its row; pressed once more, it closes.
  document.addEventListener("click", (event) => {
    const row = event.target.closest(".also") && event.target.closest(".item");
    const shown = row && document.getElementById(`s${row.id.slice(1)}`);
    if (!shown) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    shown.remove();
  }, true);

  // A phone shows one pane at a time: a title opens a page there.
  document.addEventListener("click", (event) => {
    if (!isWide() && event.target.closest(".item .t")) event.stopImmediatePropagation();
  }, true);
  // A picture that is still being loaded from its publisher is asked for again a few times.
  const RETRY_SECONDS = [2.5, 6, 15];
  document.addEventListener("error", (event) => {
    const image = event.target;
    if (!image.matches?.("img[src*='/img/']")) return;
    const count = Number(image.dataset.tries ?? 0);
    image.classList.add("missing");
    if (count >= RETRY_SECONDS.length) {
      image.classList.add("failed");
      return;
    }
    image.dataset.tries = count + 1;
    image.dataset.address ??= image.getAttribute("src");
    setTimeout(() => { image.src = `${image.dataset.address}&try=${count + 1}`; }, RETRY_SECONDS[count] * 1000);
  }, true);
  document.addEventListener("load", (event) => {
    if (event.target.matches?.("img.missing")) event.target.classList.remove("missing");
  }, true);

  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest("details.menu"));
    const action = event.target.closest("[data-do]");
    if (action) {
      actions[action.dataset.do]?.(event);
      return;
    }
    const choice = event.target.closest("[data-set]");
    if (choice) set(choice.dataset.set, choice.dataset.value);
    const title = event.target.closest(".item .t");
    if (title && isWide()) {
      current()?.removeAttribute("aria-current");
      title.closest(".item").setAttribute("aria-current", "true");
      title.closest(".item").classList.remove("new"); // the answer says so, too, unless the next comes first
      root.classList.remove("list-only");
      $("#main")?.classList.add("open");
    }
    const drawer = $("#drawer.open");
    if (drawer && !drawer.contains(event.target)) closeDrawer();
  });

  // "Mark all above" is there while an article of the list is chosen.
  document.addEventListener("toggle", (event) => {
    const form = $("#mark-above");
    if (!form || !event.target.matches?.("details.menu") || !event.target.contains(form)) return;
    const item = current();
    form.hidden = !item;
    if (item) $("[name=above]", form).value = item.id.slice(1);
  }, true);

  // Articles that were scrolled past are marked as read, a few together, where the reader chose so.
  const passed = new Set();
  const sendPassed = () => {
    if (!passed.size || !window.htmx) return;
    const articles = [...passed].join(",");
    passed.clear();
    window.htmx.ajax("POST", `${ROOT}read/passed/`, { values: { articles }, swap: "none", source: "#list" });
  };
  const watch = "IntersectionObserver" in window ? new IntersectionObserver((entries) => {
    if (root.dataset.scroll !== "on") return;
    for (const entry of entries) {
      const above = !entry.isIntersecting && entry.boundingClientRect.bottom <= (entry.rootBounds?.top ?? 0) + 1;
      if (!above || !entry.target.matches(".item.new")) continue;
      entry.target.classList.remove("new");
      passed.add(entry.target.id.slice(1));
    }
    clearTimeout(sendPassed.timer);
    sendPassed.timer = setTimeout(sendPassed, 800);
  }) : null;

  const addPlayButton = (link, film, name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn play";
    button.dataset.do = "play";
    button.dataset.film = film;
    button.dataset.title = link.textContent.trim() || name;
    button.textContent = t("Play here (from {name})", { name });
    link.after(button);
  };
  const FILMS = [
    [/^https:\/\/(?:www\.)?youtube(?:-nocookie)?\.com\/(?:watch\?v=|embed\/|shorts\/|live\/)([\w-]{5,20})/, "https://www.youtube-nocookie.com/embed/", "?autoplay=1", "YouTube"],
    [/^https:\/\/youtu\.be\/([\w-]{5,20})/, "https://www.youtube-nocookie.com/embed/", "?autoplay=1", "YouTube"],
    [/^https:\/\/(?:www\.|player\.)?vimeo\.com\/(?:video\/)?(\d{4,12})/, "https://player.vimeo.com/video/", "?dnt=1&autoplay=1", "Vimeo"],
  ];
  // PeerTube's sites have hosts of their own, which only the page of the film may frame.
  const PEERTUBE = /^https:\/\/[^/?#]+\/(?:w|videos\/watch|videos\/embed)\/([\w-]{20,40})$/;
  const offerFilm = (link) => {
    const article = link.closest("[data-article]");
    if (article && PEERTUBE.test(link.href)) addPlayButton(link, `${ROOT}read/${article.dataset.article}/film/?u=${encodeURIComponent(link.getAttribute("href"))}`, link.hostname);
    for (const [pattern, before, after, name] of FILMS) {
      const match = pattern.exec(link.href);
      if (!match) continue;
      addPlayButton(link, before + match[1] + after, name);
      return;
    }
  };

  // Rows of a table are picked, all at once or one by one, and dragged to a folder.
  const pickedRows = (form) => $$("[data-pick]:checked", form);
  const countPicked = (form) => {
    const boxes = $$("[data-pick]", form);
    const all = $("[data-pick-all]", form);
    const number = pickedRows(form).length;
    if (all) {
      all.checked = number > 0 && number === boxes.length;
      all.indeterminate = number > 0 && number < boxes.length;
    }
    for (const output of $$("[data-picked]", form)) output.textContent = number;
  };
  document.addEventListener("change", (event) => {
    const { setting, off } = event.target.dataset;
    if (setting) set(setting, event.target.type === "checkbox" ? (event.target.checked ? "" : off) : event.target.value);
    const form = event.target.closest("[data-picking]");
    if (form) {
      if (event.target.matches("[data-pick-all]")) for (const box of $$("[data-pick]", form)) box.checked = event.target.checked;
      countPicked(form);
    }
    const found = event.target.closest("#found");
    if (found) {
      const number = $$('[name="feed"]:checked', found).length;
      if ($("[data-number]", found)) $("[data-number]", found).textContent = number;
      const noun = $("[data-noun]", found);
      if (noun) noun.textContent = number === 1 ? noun.dataset.one : noun.dataset.many;
    }
  });
  // A slider says its place in words, which its form brings along.
  document.addEventListener("input", (event) => {
    const steps = event.target.matches?.('input[type="range"]') && event.target.form?.dataset.steps?.split("|");
    if (steps) event.target.setAttribute("aria-valuetext", steps[Number(event.target.value) - Number(event.target.min)]);
  });
  let dragged = [];
  document.addEventListener("dragstart", (event) => {
    const row = event.target.closest?.("tr[data-feed]");
    if (!row) return;
    const picked = pickedRows(row.closest("form")).map((box) => box.value);
    dragged = picked.includes(row.dataset.feed) ? picked : [row.dataset.feed];
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.join(","));
  });
  const folderBelow = (event) => (dragged.length ? event.target.closest?.("tr[data-folder]") : null);
  document.addEventListener("dragover", (event) => {
    for (const row of $$("tr.over")) row.classList.remove("over");
    const folder = folderBelow(event);
    const file = $("[data-drop]") && event.dataTransfer?.types.includes("Files");
    if (folder || file) event.preventDefault();
    folder?.classList.add("over");
  });
  document.addEventListener("drop", (event) => {
    const folder = folderBelow(event);
    const form = $("#dropped");
    if (folder && form) {
      event.preventDefault();
      $("[name=category]", form).value = folder.dataset.folder;
      for (const key of dragged) {
        const field = document.createElement("input");
        field.type = "hidden";
        field.name = "feed";
        field.value = key;
        form.append(field);
      }
      form.submit();
    }
    const target = $("[data-drop]");
    if (target && event.dataTransfer?.files.length) {
      event.preventDefault();
      $("[type=file]", target).files = event.dataTransfer.files;
      target.requestSubmit();
    }
  });
  document.addEventListener("dragend", () => {
    dragged = [];
    for (const row of $$("tr.over")) row.classList.remove("over");
  });
  // A field for one address or many: Enter sends it.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && event.target.matches?.('[data-enter="submit"]')) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });

  // Folders stay folded.
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details[data-folder]")) return;
    const folded = $$("details[data-folder]:not([open])").map((folder) => folder.dataset.folder);
    set("folded", folded.slice(0, 40).join("\n"));
  }, true);

  const go = {
    a: `${ROOT}read/`, y: `${ROOT}read/?order=interest`, s: `${ROOT}read/?show=starred`, f: `${ROOT}feeds/`, i: `${ROOT}sites/`,
  };
  const keys = {
    j: () => step(1, true),
    k: () => step(-1, true),
    n: () => step(1),
    p: () => step(-1),
    o: () => {
      const item = current();
      if (item && item.matches(":focus-within") && !root.classList.contains("list-only") && $(".art")) press('[data-do="close-article"]');
      else open(item ?? items()[0]);
    },
    v: () => {
      const link = $(".orig");
      if (link) window.open(link.href, "_blank", "noopener,noreferrer");
    },
    m: () => press(".item[aria-current] .acts .mark") || press(".reader .keep"),
    s: () => press(".reader .star") || press(".item[aria-current] .acts .star"),
    l: () => $("#add-label")?.focus(),
    A: () => press("#mark-all"),
    U: () => {
      const item = current();
      const form = $("#mark-above");
      if (!item || !form) return;
      $("[name=above]", form).value = item.id.slice(1);
      $("button", form).click();
    },
    r: () => location.reload(),
    "/": () => {
      const field = $('input[type="search"]');
      if (field) field.focus();
      else location.assign(`${ROOT}search/`);
    },
    "?": () => actions.keys(),
    u: () => actions.side(),
    a: () => press('.brand a[href*="/add/"]'),
    d: () => press(".reader .seg a:not([aria-current])"),
    " ": () => {
      const reader = $("#reader");
      if (!reader || !$(".art") || root.classList.contains("list-only") || !isWide()) return true;
      if (reader.scrollTop + reader.clientHeight < reader.scrollHeight - 4) reader.scrollBy({ top: reader.clientHeight * 0.9 });
      else step(1, true);
      return false;
    },
  };
  let pressedG = 0;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = $("details.menu[open]");
      if (menu) {
        menu.open = false;
        $("summary", menu).focus();
      } else if ($("#drawer.open")) closeDrawer();
      else press('.reader [data-do="close-article"]');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || root.dataset.keys === "off") return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog[open], audio, video")) return;
    if (event.key === " " && event.target.closest("button, summary")) return;
    if (pressedG && Date.now() - pressedG < 900) {
      pressedG = 0;
      if (go[event.key]) {
        event.preventDefault();
        location.assign(go[event.key]);
      }
      return;
    }
    if (event.key === "g") {
      pressedG = Date.now();
      return;
    }
    if (keys[event.key] && keys[event.key](event) !== true) event.preventDefault();
  });

  // On phones a swipe to the right marks as read, to the left stars.
  let touch = null;
  document.addEventListener("pointerdown", (event) => {
    const item = event.pointerType === "touch" ? event.target.closest(".item") : null;
    touch = item ? { item, x: event.clientX, y: event.clientY } : null;
  });
  document.addEventListener("pointerup", (event) => {
    if (!touch) return;
    const { item, x, y } = touch;
    touch = null;
    if (Math.abs(event.clientX - x) < 40 || Math.abs(event.clientY - y) > 30) return;
    $(event.clientX > x ? ".acts .mark" : ".acts .star", item)?.click();
  });

  // On phones a tap at the edge of an article goes on or back, where the reader chose so.
  const EDGE = 0.14; // of the width of the screen
  document.addEventListener("click", (event) => {
    if (root.dataset.zones !== "on" || isWide() || !event.target.closest(".art")) return;
    if (event.target.closest("a, button, summary, input, label, audio, video, iframe") || String(getSelection())) return;
    const place = event.clientX / innerWidth;
    const link = place < EDGE ? $(".thumbbar a[href]:first-child") : place > 1 - EDGE ? $(".thumbbar > :nth-child(2)[href]") : null;
    if (link) location.assign(link.href);
  });

  // The place in a recording is remembered here; the sound never passes this server.
  const places = {
    get: (key) => { try { return Number(localStorage.getItem(key)); } catch { return 0; } },
    set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* a private window */ } },
  };
  document.addEventListener("loadedmetadata", (event) => {
    const key = event.target.dataset?.audio;
    if (key) event.target.currentTime = places.get(`freshet.audio.${key}`);
  }, true);
  document.addEventListener("timeupdate", (event) => {
    const key = event.target.dataset?.audio;
    if (key) places.set(`freshet.audio.${key}`, Math.floor(event.target.currentTime));
  }, true);

  const dress = (from) => {
    for (const link of $$(".prose a.embed", from)) if (!link.nextElementSibling?.matches(".play")) offerFilm(link);
    if (watch) for (const item of $$(".list:not(.changes) .item.new", from)) watch.observe(item);
    // Wide code and tables scroll inside themselves, and can be reached with the keyboard.
    for (const part of $$(".prose pre, .prose table", from)) {
      if (part.matches("pre")) part.tabIndex = 0;
      else if (!part.closest(".scroll")) {
        const frame = document.createElement("div");
        frame.className = "scroll";
        frame.tabIndex = 0;
        part.replaceWith(frame);
        frame.append(part);
      }
    }
  };
  // The sidebar's numbers after one article was marked: its feed's, those of the folders around it, and the totals.
  // An article with copies in other feeds changes several counts: then the answer has them all.
  const countUnread = ({ feed, unread, topics, feeds, folders, total: all, list }) => {
    const total = $("#count-all"), bar = $("#count-shown");
    const shown = (element) => Number(element?.textContent.replace(/\D/g, "") || 0);
    const write = (element, number) => { if (element) element.textContent = number > 0 ? number : ""; };
    const ofFeed = (item, number) => { write($(".count", item), number); $("a", item).classList.toggle("none", !number); };
    const ofAll = (number) => {
      if (total) {
        total.dataset.total = number;
        total.innerHTML = number > 0 ? `<span class="vh">unread: </span>${number}` : "";
      }
      write($("#count-list"), number);
    };
    const around = $$(".tree details[data-folder]");
    if (feeds) {
      for (const [key, number] of Object.entries(feeds)) {
        const item = $(`.tree [data-feed="${key}"]`);
        if (item) ofFeed(item, number);
      }
      for (const folder of around) {
        if (folder.dataset.folder in folders) write($("summary .count", folder), folders[folder.dataset.folder]);
      }
      if (total) total.dataset.topics = topics;
      ofAll(all);
      if (bar) bar.textContent = list;
      return;
    }
    const item = $(`.tree [data-feed="${feed}"]`);
    const change = item ? unread - shown($(".count", item)) : (topics ?? 0) - Number(total?.dataset.topics ?? 0);
    if (!change || (!item && topics === undefined)) return;
    if (item) ofFeed(item, unread);
    else if (total) total.dataset.topics = topics;
    const name = item?.closest("details")?.dataset.folder;
    for (const folder of name ? around : []) {
      if (name === folder.dataset.folder || name.startsWith(`${folder.dataset.folder}/`)) {
        const count = $("summary .count", folder);
        write(count, shown(count) + change);
      }
    }
    ofAll(Number(total?.dataset.total ?? 0) + change);
    if (bar) bar.textContent = Math.max(shown(bar) + change, 0);
  };
  // Marks made without a network wait in this browser and are sent once there is one.
  const later = {
    all() {
      try { return JSON.parse(localStorage.getItem("freshet.later") || "{}"); } catch { return {}; }
    },
    add(name, key) {
      const marks = later.all();
      marks[name] = [...new Set([...(marks[name] ?? []), key])].slice(-200);
      try { localStorage.setItem("freshet.later", JSON.stringify(marks)); } catch { /* a private window */ }
      later.send();
    },
    async send() {
      const marks = later.all();
      const headers = document.body.getAttribute("hx-headers");
      if (!navigator.onLine || !headers || !(marks.articles?.length || marks.starred?.length)) return;
      const body = new URLSearchParams({ articles: (marks.articles ?? []).join(","), starred: (marks.starred ?? []).join(",") });
      const answer = await fetch(`${ROOT}read/passed/`, { method: "POST", body, headers: JSON.parse(headers) }).catch(() => null);
      if (!answer?.ok || answer.redirected) return;
      const left = later.all();
      for (const name of ["articles", "starred"]) left[name] = (left[name] ?? []).filter((key) => !(marks[name] ?? []).includes(key));
      try { localStorage.setItem("freshet.later", JSON.stringify(left)); } catch { /* a private window */ }
    },
  };
  window.addEventListener("online", () => later.send());
  document.addEventListener("toggle", (event) => {
    const kept = event.target.matches?.("details[data-offline]") && event.target.open;
    if (kept) later.add("articles", event.target.dataset.offline);
  }, true);

  // The web app: files and the newest unread articles are kept for times without a network.
  const KEEP_EVERY_MS = 15 * 60 * 1000;
  const keepOffline = async () => {
    if (!navigator.serviceWorker || !$("#list")) return;
    const registration = await navigator.serviceWorker.register(`${ROOT}worker.js`).catch(() => null);
    const last = places.get("freshet.kept");
    if (!registration || Date.now() - last < KEEP_EVERY_MS) return;
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage("keep");
    places.set("freshet.kept", Date.now());
  };
  window.addEventListener("load", () => setTimeout(keepOffline, 1500));

  document.addEventListener("DOMContentLoaded", () => {
    later.send();
    dress(document);
    const toast = $("#toast");
    if (toast && !toast.hidden) show(toast);
    current()?.scrollIntoView({ block: "nearest" });
    document.body.addEventListener("htmx:afterSwap", (event) => {
      if (event.detail.target?.id === "reader") {
        if (event.detail.requestConfig?.elt?.id !== "hlbar") $("#reader").scrollTop = 0; // a highlight leaves it there
        const title = $(".art h1, .changepane h1")?.textContent;
        if (title) document.title = `${title} · Freshet`;
      }
      dress(event.detail.target ?? document);
    });
    document.body.addEventListener("htmx:oobAfterSwap", (event) => {
      if (event.detail.target?.id === "toast" && !$("#toast").hidden) show($("#toast"));
    });
    document.body.addEventListener("htmx:configRequest", (event) => {
      if (event.detail.elt?.id === "fresh") event.detail.parameters.total = $("#count-all")?.dataset.total ?? "";
      const isOpen = event.detail.elt.closest?.(".item")?.matches("[aria-current]");
      if (isOpen && event.detail.verb === "post") event.detail.path += `${event.detail.path.includes("?") ? "&" : "?"}open=1`;
    });
    // What renews itself does not take a field away in which somebody writes.
    document.body.addEventListener("htmx:beforeSwap", (event) => {
      const { target, elt, requestConfig } = event.detail;
      const writes = document.activeElement?.matches("input:not([type=checkbox]), textarea, select");
      const kept = elt === target && $("details[open]", target)?.id;
      if (kept) target.addEventListener("htmx:afterSwap", () => { const details = document.getElementById(kept); if (details) details.open = true; }, { once: true });
      if (requestConfig?.verb === "get" && elt === target && writes && target.contains(document.activeElement)) event.detail.shouldSwap = false;
    });
    document.body.addEventListener("freshet:unread", (event) => countUnread(event.detail));
    for (const name of ["htmx:responseError", "htmx:sendError"]) {
      document.body.addEventListener(name, (event) => {
        const { elt, target } = event.detail;
        if (elt?.id === "fresh" || elt?.id === "import") return;
        const words = t("That did not work: the server gave no answer. Try once more.");
        // What renews itself asks again soon: its note stands there meanwhile.
        if (!elt?.getAttribute("hx-trigger")?.includes("every")) say(words);
        // A toast is gone before somebody looks up from what they did.
        if (target?.id === "found") noteIn(target, words);
        else noteBeside(event.detail, words);
      });
    }
    document.body.addEventListener("htmx:afterOnLoad", ({ detail }) => {
      if (detail.xhr.status >= 400) return;
      for (const note of [failed.get(placeOf(detail)[0]), ...$$("form [data-failed]", detail.elt.parentElement ?? document)]) note?.remove();
    });
  });
})();

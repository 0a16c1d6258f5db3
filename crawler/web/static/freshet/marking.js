// Freshet: highlights. Words are chosen by mouse or touch, or sentence by sentence with the keyboard (h), and get a
// colour (1 to 4) or a note (n). The server finds the words in the article and marks them; without this file
// ?mark=1 does the same with check boxes.
(() => {
  "use strict";
  const $ = (query, from = document) => from.querySelector(query);
  const bar = () => $("#hlbar");
  const prose = () => $("#prose");
  const GAP = 8; // pixels between the words and the buttons
  const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, blockquote, pre, td, figcaption, dd";

  // The article's own words of a range: notes in the margin and buttons of films are none.
  const textOf = (range) => {
    const part = range.cloneContents();
    for (const each of part.querySelectorAll(".margin, button")) each.remove();
    for (const block of part.querySelectorAll(BLOCKS)) block.append("\n");
    return part.textContent.trim();
  };
  // What stands before and after a range tells it from the same words elsewhere.
  const AROUND = 32;
  const around = (range) => {
    const [before, after] = [document.createRange(), document.createRange()];
    for (const each of [before, after]) each.selectNodeContents(prose());
    before.setEnd(range.startContainer, range.startOffset);
    after.setStart(range.endContainer, range.endOffset);
    return [textOf(before).slice(-AROUND), textOf(after).slice(0, AROUND)];
  };
  const chosen = () => {
    const selection = getSelection();
    if (selection.isCollapsed || !prose()?.contains(selection.anchorNode) || !prose().contains(selection.focusNode)) return null;
    const range = selection.getRangeAt(0);
    const text = textOf(range);
    return text ? { text, range } : null;
  };

  const place = () => {
    const form = bar();
    if (!form) return;
    const words = chosen();
    form.hidden = !words;
    if (!words) return;
    form.elements.quote.value = words.text;
    [form.elements.before.value, form.elements.after.value] = around(words.range);
    const box = words.range.getBoundingClientRect();
    // On touch screens the system's own menu stands above the words.
    const below = matchMedia("(pointer: coarse)").matches || box.top < form.offsetHeight + 4 * GAP;
    form.style.position = "fixed";
    form.style.inset = "auto";
    form.style.top = `${Math.min(Math.max(below ? box.bottom + GAP : box.top - form.offsetHeight - GAP, GAP), innerHeight - form.offsetHeight - GAP)}px`;
    form.style.left = `${Math.min(Math.max(box.left, GAP), innerWidth - form.offsetWidth - GAP)}px`;
  };
  document.addEventListener("selectionchange", () => {
    clearTimeout(place.timer);
    place.timer = setTimeout(place, 120);
  });
  document.addEventListener("scroll", place, true);
  // A press on the buttons must not take the choice away.
  document.addEventListener("pointerdown", (event) => {
    if (event.target.closest("#hlbar")) event.preventDefault();
  });

  // Sentences of the article, for the keyboard: each a range within one block.
  const sentences = () => {
    const found = [];
    for (const block of prose()?.querySelectorAll(BLOCKS) ?? []) {
      if (block.querySelector(BLOCKS) || block.closest(".margin")) continue;
      const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
      const nodes = [];
      let text = "";
      while (walker.nextNode()) {
        nodes.push([walker.currentNode, text.length]);
        text += walker.currentNode.data;
      }
      const at = (offset) => {
        const [node, start] = nodes.findLast(([, begin]) => begin <= offset) ?? nodes[0];
        return [node, Math.min(offset - start, node.data.length)];
      };
      for (const { segment, index } of new Intl.Segmenter(document.documentElement.lang, { granularity: "sentence" }).segment(text)) {
        const trimmed = segment.trim();
        if (!trimmed) continue;
        const range = document.createRange();
        const start = index + segment.indexOf(trimmed);
        range.setStart(...at(start));
        range.setEnd(...at(start + trimmed.length));
        found.push(range);
      }
    }
    return found;
  };
  let cursor = -1;
  const choose = (index, extends_) => {
    const all = sentences();
    if (!all.length) return;
    cursor = Math.min(Math.max(index, 0), all.length - 1);
    const selection = getSelection();
    const range = all[cursor];
    if (extends_ && selection.rangeCount && chosen()) selection.setBaseAndExtent(selection.anchorNode, selection.anchorOffset, range.endContainer, range.endOffset);
    else selection.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
    place();
  };
  const begin = () => {
    const all = sentences();
    const shown = all.findIndex((range) => range.getBoundingClientRect().bottom > 90);
    const next = cursor < 0 ? null : all[cursor + 1]?.getBoundingClientRect();
    const goesOn = chosen() || (next && next.bottom > 90 && next.top < innerHeight);
    choose(goesOn ? cursor + 1 : Math.max(shown, 0), false);
  };
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id !== "reader") return;
    bar()?.removeAttribute("style"); // htmx would copy it to the new one, which the page's policy forbids
    if (event.detail.requestConfig?.elt?.id !== "hlbar") cursor = -1;
  });
  const send = (color) => bar()?.querySelector(`[value="${color}"]`)?.click();
  const withNote = () => {
    const form = bar();
    const words = chosen()?.text ?? form?.elements.quote.value;
    const dialog = $("#hlnote");
    if (!form || !words || !dialog) return;
    form.elements.quote.value = words;
    $("blockquote", dialog).textContent = words.length > 300 ? `${words.slice(0, 300)}…` : words;
    $("textarea", dialog).value = "";
    dialog.showModal();
    $("textarea", dialog).focus();
  };
  document.addEventListener("close", (event) => {
    if (event.target.id !== "hlnote" || !event.target.returnValue) return;
    const form = bar();
    form.elements.note.value = $("textarea", event.target).value;
    form.hidden = false;
    send(event.target.returnValue);
    event.target.returnValue = "";
  }, true);
  document.addEventListener("click", (event) => {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (action === "mark-note") withNote();
    if (action !== "mark" || !prose()) return;
    event.preventDefault();
    event.target.closest("details")?.removeAttribute("open");
    begin();
  });
  const COLORS = ["y", "g", "b", "r"];
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("#hlnote")) event.stopPropagation(); // Escape there closes the dialog, not the article
    if (event.ctrlKey || event.metaKey || event.altKey || document.documentElement.dataset.keys === "off") return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog[open]") || !prose()) return;
    const words = chosen();
    const act = {
      h: () => begin(),
      H: () => choose(cursor - 1, false),
      ArrowDown: words && event.shiftKey && (() => choose(cursor + 1, true)),
      n: words && withNote,
      Escape: words && (() => { cursor = -1; getSelection().removeAllRanges(); place(); }),
    }[event.key] ?? (words && COLORS[Number(event.key) - 1] ? () => send(COLORS[Number(event.key) - 1]) : null);
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }, true);
})();

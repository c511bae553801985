// A document, opened at a quote: its pages as pictures with the quote's lines on them, or its text.
// What comes from the server is HTML in which all text is escaped; nothing else becomes HTML here.
"use strict";

(() => {
  const all = (selector, root = dialog) => [...root.querySelectorAll(selector)];
  const one = (selector, root = dialog) => root.querySelector(selector);
  const ZOOMS = [0.6, 0.8, 1, 1.3, 1.7, 2.2, 3];
  const AHEAD = "1200px 0px"; // what is so near is loaded before it is seen

  let dialog; // made when it is first needed
  let shown; // of the open document: id, span, opener; what is near, latest and marked
  let found = { list: [], at: -1, words: "" }; // what was searched for in it

  // ---- opening and closing ----

  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-view]");
    if (!opener) return;
    const { view, start, end } = opener.dataset;
    open(view, start ? { start: Number(start), end: Number(end) } : null, opener);
  });

  function make() {
    dialog = document.createElement("dialog");
    dialog.id = "document";
    dialog.setAttribute("aria-labelledby", "document-title");
    dialog.addEventListener("click", onClick);
    dialog.addEventListener("keydown", onKey);
    dialog.addEventListener("input", (event) => {
      if (event.target.closest("[data-find]")) later(() => find(event.target.value));
    });
    dialog.addEventListener("submit", (event) => event.preventDefault());
    dialog.addEventListener("close", closed);
    document.body.append(dialog);
  }

  async function open(id, span, opener) {
    if (!dialog) make();
    const mine = shown = { id, span, opener, near: null };
    found = { list: [], at: -1, words: "" };
    message(gettext("Opening the document"));
    if (!dialog.open) dialog.showModal();
    const response = await ask("view", span).catch(() => null);
    if (shown !== mine) return;
    if (!response?.ok) {
      message(response ? await response.text()
        : gettext("The document could not be loaded; is the server still running?"));
      return;
    }
    const html = await response.text();
    if (shown !== mine) return;
    dialog.innerHTML = html;
    begin();
  }

  // A sentence in the place of the document.
  function message(text) {
    const line = document.createElement("p");
    const button = document.createElement("button");
    line.id = "document-title";
    line.className = "opening";
    line.textContent = text;
    line.setAttribute("role", "status");
    Object.assign(button, { type: "button", className: "plain", textContent: gettext("Close") });
    button.dataset.closeDocument = "";
    dialog.replaceChildren(line, button);
  }

  function begin() {
    shown.near = new IntersectionObserver(onNear, { root: null, rootMargin: AHEAD });
    for (const each of all("[data-page], [data-missing]")) shown.near.observe(each);
    listen();
    for (const part of all("[data-part]:not([data-missing])")) timed(part);
    body().focus({ preventScroll: true });
    if (!shown.span) return;
    shown.span.part = Number(one("[data-text]").dataset.quotePart);
    shown.marked = shown.span; // the server has marked it
    reveal(shown.span);
  }

  function close() {
    if (!dialog.open) return;
    dialog.close();
    closed(); // at once: its event comes later, when another document may be open
  }

  function closed() {
    if (!shown || dialog.open) return;
    const { opener, id } = shown;
    shown.near?.disconnect();
    shown = null;
    wanted.clear();
    dialog.replaceChildren(); // whatever plays stops
    const again = opener.isConnected ? opener
      : document.querySelector(`[data-view="${CSS.escape(id)}"]`); // drawn again meanwhile
    again?.focus();
  }

  const ask = (what, span, more = {}) => {
    const query = new URLSearchParams({ ...(span && { start: span.start, end: span.end }), ...more });
    return fetch(`documents/${encodeURIComponent(shown.id)}/${what}?${query}`);
  };

  const pages = () => one("[data-pages]:not([hidden])"); // while they are what is shown
  const body = () => pages() ?? one("[data-text]");

  function onClick(event) {
    const on = (selector) => event.target.closest(selector);
    if (event.target === dialog || on("[data-close-document]")) close(); // beside it, too
    else if (on("[data-show]")) show(on("[data-show]").dataset.show);
    else if (on("[data-zoom]")) zoom(Number(on("[data-zoom]").dataset.zoom));
    else if (on("[data-step]")) step(Number(on("[data-step]").dataset.step));
    else if (on("[data-to-quote]")) reveal(shown.span);
    else if (on("[data-seek]")) seek(Number(on("[data-seek]").dataset.seek), true);
  }

  function onKey(event) {
    const typing = event.target.matches("input");
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation(); // what lies below stays as it is
      close();
    } else if (event.key === "/" && !typing) {
      event.preventDefault();
      event.stopPropagation();
      one("[data-find] input")?.focus();
    } else if (event.key === "Enter" && typing) {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    }
  }

  // ---- what is near is loaded ----

  const wanted = new Set(); // pages that are near, and not drawn yet
  let drawing = 0; // how many are asked for: others need the connections too

  function onNear(entries) {
    for (const { target, isIntersecting } of entries) {
      if (target.dataset.part) {
        if (isIntersecting) load(Number(target.dataset.part));
      } else if (isIntersecting) wanted.add(target);
      else wanted.delete(target); // scrolled past
    }
    setTimeout(drawNext, 60);
  }

  function drawNext() {
    const middle = (figure) => {
      const { top, bottom } = figure.getBoundingClientRect();
      return Math.abs(top + bottom - innerHeight);
    };
    while (shown && drawing < 3 && wanted.size) {
      const next = [...wanted].reduce((a, b) => (middle(b) < middle(a) ? b : a));
      wanted.delete(next);
      picture(next);
    }
  }

  function picture(figure) {
    const width = Math.ceil(figure.clientWidth * devicePixelRatio);
    if (!width || width <= Number(one("img", figure)?.dataset.width ?? 0)) return;
    const number = figure.dataset.page;
    const image = new Image();
    image.dataset.width = width;
    image.alt = gettext("Page %(number)s", { number });
    drawing += 1;
    const settle = (shows) => {
      drawing -= 1;
      if (shows || !one("img", figure)) {
        for (const old of all("img, .failed", figure)) old.remove();
        figure.prepend(shows ? image : failure());
      }
      drawNext();
    };
    image.addEventListener("load", () => settle(true));
    image.addEventListener("error", () => settle(false));
    image.src = `documents/${encodeURIComponent(shown.id)}/pages/${number}?width=${width}`;
  }

  function failure() {
    const line = document.createElement("p");
    line.className = "failed";
    line.textContent = gettext("This page cannot be drawn. Its words are under “Text”.");
    return line;
  }

  // A part of the text; with a span, marked, in the place of all other marks.
  async function load(number, span) {
    const part = one(`[data-part="${number}"]`);
    const mine = shown;
    const needs = () => shown === mine && (span ? mine.latest === span : "missing" in part.dataset);
    if (!part || !needs()) return;
    const response = await ask(`parts/${number}`, span);
    const html = response.ok ? await response.text() : "";
    if (!html || !needs()) return;
    if (span) for (const mark of all("[data-text] mark")) mark.replaceWith(...mark.childNodes);
    part.innerHTML = html;
    delete part.dataset.missing;
    mine.near.unobserve(part);
    timed(part);
  }

  // ---- pages or text ----

  function show(what) {
    for (const button of all("[data-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.show === what));
    }
    one("[data-pages]").hidden = what !== "pages";
    one("[data-text]").hidden = what !== "text";
    one(".zoom").hidden = what !== "pages";
    one("[data-unplaced]").hidden = true;
    body().focus({ preventScroll: true });
    const span = found.list[found.at] ?? shown.span;
    if (span) reveal(span);
  }

  function zoom(way) {
    const view = one("[data-pages]");
    const now = ZOOMS.indexOf(Number(view.dataset.zoomed ?? 1));
    const next = ZOOMS[Math.min(Math.max(now + way, 0), ZOOMS.length - 1)];
    const middle = { // what is in the middle stays there
      left: (view.scrollLeft + view.clientWidth / 2) / view.scrollWidth,
      top: (view.scrollTop + view.clientHeight / 2) / view.scrollHeight,
    };
    view.dataset.zoomed = next;
    view.style.setProperty("--zoom", next);
    view.scrollLeft = middle.left * view.scrollWidth - view.clientWidth / 2;
    view.scrollTop = middle.top * view.scrollHeight - view.clientHeight / 2;
    for (const figure of all("[data-page]:has(img)")) {
      shown.near.unobserve(figure); // tells again whether it is near
      shown.near.observe(figure);
    }
  }

  // ---- a span, wherever it is ----

  async function reveal(span) {
    const mine = shown;
    mine.latest = span;
    if (pages()) await revealOnPage(span, mine);
    else await revealInText(span, mine);
  }

  async function revealOnPage(span, mine) {
    const response = await ask("boxes", span);
    if (!response.ok || shown !== mine || mine.latest !== span) return;
    const found = await response.json();
    if (shown !== mine || mine.latest !== span) return;
    for (const box of all(".box")) box.remove();
    for (const { page, boxes } of found) draw(one(`[data-page="${page}"]`), boxes);
    const lost = found.filter(({ boxes }) => !boxes.length);
    one("[data-unplaced]").hidden = !lost.length;
    if (lost.length) one("[data-words]").textContent = lost.map(({ words }) => words.trim()).join(" … ");
    toPage(found[0]);
  }

  function draw(figure, boxes) {
    for (const [left, top, width, height] of boxes) {
      const box = document.createElement("i");
      box.className = "box";
      const sides = { left, top, width, height };
      for (const [name, share] of Object.entries(sides)) box.style[name] = `${100 * share}%`;
      figure?.append(box);
    }
  }

  function toPage(first) {
    const figure = first && one(`[data-page="${first.page}"]`);
    if (!figure) return;
    const top = first.boxes.length ? first.boxes[0][1] * figure.offsetHeight : 0;
    const left = first.boxes.length ? first.boxes[0][0] * figure.offsetWidth : 0;
    const room = first.boxes.length ? pages().clientHeight / 3 : 12;
    pages().scrollTo({ top: figure.offsetTop + top - room, left: figure.offsetLeft + left - 24 });
  }

  async function revealInText(span, mine) {
    if (mine.marked !== span) {
      await load(span.part, span);
      if (shown !== mine || mine.latest !== span) return;
      mine.marked = span;
    }
    const mark = one("[data-text] mark");
    mark?.scrollIntoView({ block: "center" });
    const time = mark?.closest("[data-time]")?.dataset.time;
    if (time !== undefined) seek(Number(time), false);
  }

  // ---- search ----

  let waiting;
  function later(act) {
    clearTimeout(waiting);
    waiting = setTimeout(act, 180);
  }

  async function find(words) {
    clearTimeout(waiting);
    const mine = shown;
    found = { list: [], at: -1, words };
    if (!words.trim()) return tell();
    const response = await ask("matches", null, { words });
    if (!response.ok || shown !== mine || found.words !== words) return;
    const list = await response.json();
    if (shown !== mine || found.words !== words) return;
    found = { list, at: -1, words };
    if (list.length) step(1);
    else tell();
  }

  function step(way) {
    const words = one("[data-find] input").value;
    if (words !== found.words) return void find(words);
    const { list } = found;
    if (!list.length) return;
    found.at = (found.at + way + list.length) % list.length;
    tell();
    reveal(list[found.at]);
  }

  function tell() {
    const { list, at, words } = found;
    const whole = list.length === 1000
      ? gettext("%(number)s or more", { number: count(1000) }) : count(list.length);
    const said = list.length
      ? gettext("%(number)s of %(all)s", { number: count(at + 1), all: whole }) : gettext("Not found");
    one("[data-found]").textContent = words.trim() ? said : "";
    for (const button of all("[data-step]")) button.hidden = list.length < 2;
  }

  // ---- the recording ----

  const player = () => one("[data-recording]");

  function listen() {
    if (!player()) return;
    player().src = `documents/${encodeURIComponent(shown.id)}/recording`;
    player().addEventListener("timeupdate", () => {
      const now = player()?.currentTime;
      const before = all("[data-time]").filter((each) => Number(each.dataset.time) <= now + 0.05);
      for (const each of all(".utterance.now")) each.classList.remove("now");
      if (!player()?.paused) before.at(-1)?.classList.add("now");
    });
  }

  // Where there is a recording, times play it.
  function timed(part) {
    if (!player()) return;
    for (const time of all(".utterance[data-time] span.time", part)) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "time", textContent: time.textContent });
      button.dataset.seek = time.closest("[data-time]").dataset.time;
      button.setAttribute("aria-label", gettext("Play from %(time)s", { time: time.textContent }));
      time.replaceWith(button);
    }
  }

  function seek(seconds, play) {
    const recording = player();
    if (!recording) return;
    const go = () => {
      recording.currentTime = seconds;
      if (play) recording.play().catch(() => {}); // which a browser may refuse
    };
    if (recording.readyState) go();
    else recording.addEventListener("loadedmetadata", go, { once: true });
  }
})();

// Behaviour in the browser: sources beside an answer, filters, lists, keyboard shortcuts.
// Elements declare what they do by data attributes; text of documents is never run as code.
"use strict";

const ragApp = (() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- elements that trigger events on the server ----

  function acts(element, trigger, names) {
    const choices = new Choices(element, trigger);
    element.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      if (!button || !names.includes(button.dataset.act)) return;
      if (choices.are(button.dataset.act)) {
        choices.make(button.dataset.act, []);
        return;
      }
      if ("sure" in button.dataset && !sure(button)) {
        const { sure: first, value } = button.dataset; // an event that tells whom it concerns
        if (first) trigger(first, { value });
        return;
      }
      trigger(button.dataset.act, { value: button.dataset.value });
    });
    element.addEventListener("click", (event) => {
      const button = event.target.closest("[data-rename]");
      if (button) rename(button, trigger);
      const make = event.target.closest("[data-make]");
      if (make) collect(make, trigger);
    });
    element.addEventListener("change", (event) => {
      if (!event.target.matches("[data-choose]")) return;
      choices.turn(event.target);
    });
    element.addEventListener("input", (event) => {
      if (event.target.matches("[data-filter]")) filter(element, event.target.value);
    });
    inPlace(element, () => {
      if (element.closest("#drop")) ragAppUploads.connect(element, trigger);
      if (element.closest("#changes")) watch(element, trigger);
      if (element.closest("#register")) ragAppLists.keepUp(element, trigger);
      if (element.closest("#names, #proposals")) ragAppLists.keepFocus(element);
    });
    let failures = 0;
    new MutationObserver(() => { // a new reason for a failure comes into view; a list that was rendered again is as before
      showAsked();
      choices.check();
      const input = element.querySelector("[data-filter]");
      if (input?.value) filter(element, input.value);
      const failed = all(".uploads :is(.failed, .exists)", element).length;
      if (failed > failures) element.querySelector(".uploads")?.scrollIntoView({ block: "nearest" });
      failures = failed;
    }).observe(element, { childList: true, characterData: true, subtree: true });
  }

  // What was ticked last. A list that was read before that, but comes later, shows an older choice:
  // then it is made again.
  class Choices {
    #made = new Map(); // by event: values, and how often they are made again at most
    #element;
    #trigger;

    constructor(element, trigger) {
      this.#element = element;
      this.#trigger = trigger;
    }

    boxes = (choose) => all(`[data-choose="${choose}"]`, this.#element);

    are = (choose) => this.boxes(choose).length > 0;

    // A box was ticked, or no longer; the others are as they were made, whatever is shown.
    turn(box) {
      const { choose } = box.dataset;
      const shown = this.boxes(choose).filter((one) => one.checked).map((one) => one.value);
      const others = (this.#made.get(choose)?.values ?? shown).filter((value) => value !== box.value);
      const values = box.type === "radio" ? [] : others;
      this.make(choose, box.checked ? [...values, box.value] : values);
    }

    make(choose, values, tries = 8) {
      this.#made.set(choose, { values, tries });
      this.#trigger(choose, { value: values });
    }

    check() {
      for (const [choose, { values, tries }] of this.#made) {
        const boxes = this.boxes(choose);
        for (const box of boxes) box.checked = values.includes(box.value);
        const isOld = boxes.some((box) => box.defaultChecked !== box.checked); // as it was rendered
        if (isOld && tries) this.make(choose, values, tries - 1);
      }
    }
  }

  // Do something as soon as an element has its place in the page; Gradio may load it before that.
  function inPlace(element, then) {
    if (element.isConnected) then();
    else setTimeout(() => inPlace(element, then), 50);
  }

  function rename(button, trigger) {
    const name = button.closest("li").querySelector(".name");
    const before = { value: name.querySelector("span").textContent, maxLength: 60 };
    write(name, button, gettext("Name of the conversation"), before, (text) => {
      trigger("rename_chat", { value: { id: button.dataset.rename, name: text } });
    });
  }

  function collect(button, trigger) {
    const field = write(button, button, button.dataset.field, { maxLength: 80 }, (text) => {
      if (text.trim()) trigger("make_collection", { value: text });
    });
    field.placeholder = button.dataset.field;
    field.setAttribute("list", "own-collections");
  }

  // What is shown becomes a field: Enter keeps what is written, Escape does not.
  function write(name, button, label, values, keep) {
    const field = Object.assign(document.createElement("input"), { className: "rename", ...values });
    field.setAttribute("aria-label", label);
    let over = false; // a field that is taken away loses its focus, which ends it once more
    const end = (keeps) => {
      if (over) return;
      over = true;
      if (!field.isConnected) return; // the list was rendered again
      field.replaceWith(name);
      if (keeps) keep(field.value);
      button.focus();
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // the button that has the focus next is not pressed by it
      end(event.key === "Enter");
    });
    field.addEventListener("blur", () => setTimeout(() => end(true)));
    name.replaceWith(field);
    field.select();
    return field;
  }

  // A second click confirms. Until something else is clicked, focused or Escape is pressed, however
  // often the list is rendered again: nobody has to be quick.
  let asked = null; // what a second click would do

  const actOf = (button) => `${button.dataset.act} ${button.dataset.value ?? ""}`;

  function sure(button) {
    if (asked === actOf(button)) {
      asked = null;
      return true;
    }
    asked = actOf(button);
    showAsked();
    return false;
  }

  function showAsked() {
    for (const button of all("[data-sure]")) {
      const isAsked = actOf(button) === asked;
      if (isAsked === button.classList.contains("asked")) continue;
      button.classList.toggle("asked", isAsked);
      if (isAsked) button.dataset.label = button.getAttribute("aria-label");
      const { label } = button.dataset;
      button.dataset.asked = gettext("sure?");
      button.setAttribute("aria-label", isAsked
        ? gettext("%(what)s: press again to confirm", { what: label }) : label);
    }
  }

  function forgetAsked(event) {
    const button = event.target.closest?.("[data-sure]");
    if (asked === null || (button && actOf(button) === asked && event.key !== "Escape")) return;
    asked = null;
    showAsked();
  }
  document.addEventListener("click", forgetAsked, true);
  document.addEventListener("focusin", forgetAsked);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") forgetAsked(event);
  }, true);

  function filter(element, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of all("li[data-name]", element)) {
      row.hidden = !words.every((word) => row.dataset.name.includes(word));
    }
  }

  // ---- what other windows and programs change is shown without a reload ----

  const LOOK_EVERY = 3000; // milliseconds
  const LONGEST_LOOK = 60000;

  function watch(element, trigger) {
    let next;
    // It follows an answer, or somebody is writing a name, which a list rendered again would lose.
    const busy = () => document.querySelector("#box .stop-button, input.rename");
    async function look() {
      clearTimeout(next);
      const shown = element.querySelector("[data-mark]")?.dataset; // none before it has loaded
      const seen = !document.hidden && navigator.onLine;
      try {
        if (shown && seen && !busy()) await compare(shown);
      } catch {
        // the server is away
      }
      clearTimeout(next);
      next = setTimeout(look, LOOK_EVERY);
    }
    async function compare({ mark, chats }) {
      const signal = AbortSignal.timeout(LONGEST_LOOK);
      const response = await fetch(`changes?chats=${chats}`, { cache: "no-store", signal });
      if (response.ok && (await response.text()) !== mark) trigger("refresh", {});
    }
    for (const event of ["online", "offline"]) window.addEventListener(event, look);
    document.addEventListener("visibilitychange", look);
    look();
  }

  // ---- sources ----

  function showSources(number) {
    for (const section of all("#panel [data-of]")) section.hidden = section.dataset.of !== number;
    all("#panel .sources > .empty").forEach((line) => line.remove());
    document.getElementById("panel")?.classList.add("open");
  }

  function showSource(button) {
    const [number, marker] = button.dataset.cite.split("-");
    showSources(number);
    for (const other of all("[data-cite].shown")) other.classList.remove("shown");
    button.classList.add("shown");
    const card = document.getElementById(`source-${number}-${marker}`);
    if (!card) return;
    for (const other of all(".source.shown")) other.classList.remove("shown");
    void card.offsetWidth; // restarts the animation
    card.classList.add("shown");
    const room = document.getElementById("panel").clientHeight - 80;
    const block = card.offsetHeight > room ? "start" : "nearest";
    card.scrollIntoView({ block, behavior: "smooth" });
    card.focus({ preventScroll: true });
  }

  function closeSources() {
    document.getElementById("panel")?.classList.remove("open");
    document.querySelector("[data-cite].shown")?.focus();
  }

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest?.(selector);
    if (on("[data-cite]")) showSource(on("[data-cite]"));
    else if (on("[data-sources]")) showSources(on("[data-sources]").dataset.sources);
    else if (on("[data-close-sources]")) closeSources();
    else if (on("[data-copy]")) copy(on("[data-copy]"));
  });

  async function copy(button) {
    const lines = all(".answer p:not(.status)", button.closest(".exchange")).map((line) => {
      const shown = line.cloneNode(true);
      for (const cite of all(".cite", shown)) cite.textContent = ` [${cite.textContent}]`;
      return shown.textContent.replace(/\s+/g, " ").trim();
    });
    const text = lines.join("\n");
    await navigator.clipboard.writeText(text);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  }

  // ---- the overview of a document opens as soon as it is there ----

  new MutationObserver(() => {
    const dialog = document.querySelector(
      ":is(#overview, #answering) dialog:not([data-shown])");
    if (!dialog) return;
    dialog.dataset.shown = "";
    dialog.showModal();
  }).observe(document, { childList: true, subtree: true });

  document.addEventListener("click", (event) => {
    if (event.target.matches?.(":is(#overview, #answering) dialog")) event.target.close(); // beside it
  });

  // ---- the way past the sidebar, for whoever has no mouse ----

  const skip = Object.assign(document.createElement("a"), {
    className: "skip", href: "#box", textContent: gettext("Skip to the question"),
  });
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector('#views [role="tab"]')?.click(); // "Ask", the first
    requestAnimationFrame(() => document.querySelector("#box textarea")?.focus());
  });
  const first = () => document.body.prepend(skip);
  if (document.body) first();
  else document.addEventListener("DOMContentLoaded", first);

  // ---- the tools of an answer are one step by keyboard, and arrows go from tool to tool ----

  function oneStep(toolbar) {
    toolbar.dataset.oneStep = "";
    all("button", toolbar).forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
  }

  document.addEventListener("keydown", (event) => {
    const toolbar = event.target.closest?.("[role=toolbar]");
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!toolbar || !way) return;
    const buttons = all("button", toolbar);
    const next = buttons[(buttons.indexOf(event.target) + way + buttons.length) % buttons.length];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
    event.preventDefault();
  });

  new MutationObserver(() => all("[role=toolbar]:not([data-one-step])").forEach(oneStep))
    .observe(document, { childList: true, subtree: true });

  // ---- what opens is shown above the box for the question, which lies over the conversation ----

  document.addEventListener("toggle", (event) => {
    const talk = document.getElementById("talk");
    if (!event.target.open || !talk?.contains(event.target)) return;
    const box = document.getElementById("composer").offsetHeight;
    talk.style.setProperty("--composer", `${box}px`);
    const block = event.target.offsetHeight > talk.clientHeight - box ? "start" : "nearest";
    event.target.scrollIntoView({ block, behavior: "smooth" });
  }, true);

  // ---- scroll with the conversation, unless the reader has scrolled up ----

  function follow() {
    const talk = document.getElementById("talk");
    const history = document.getElementById("history");
    const box = document.getElementById("box");
    if (!talk || !history || !box) return setTimeout(follow, 100);
    let near = true;
    talk.addEventListener("scroll", () => {
      near = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 160;
    });
    const down = () => {
      if (near && talk.querySelector(".exchange")) talk.scrollTop = talk.scrollHeight;
    };
    for (const part of [history, document.getElementById("live")]) {
      new MutationObserver(down).observe(part, { childList: true, subtree: true, characterData: true });
    }
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) near = true;
    });
    return undefined;
  }
  follow();

  // On a phone the sidebar starts closed.
  function fold() {
    const side = document.getElementById("side");
    if (!side) return setTimeout(fold, 50);
    if (matchMedia("(max-width: 768px)").matches && side.classList.contains("open")) {
      side.querySelector(".toggle-button").click();
    }
    return undefined;
  }
  fold();

  // ---- keys: / focuses the question, Escape closes the sources or stops the answer ----

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.querySelector("#box textarea")?.focus();
    } else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
      const cancel = document.querySelector("#hint [data-act=cancel_edit]");
      if (document.querySelector("#panel.open")) closeSources();
      else if (cancel && event.target.closest?.("#composer")) cancel.click();
      else document.querySelector("#box .stop-button")?.click();
    }
  });

  // ---- saving ----

  function save(text) {
    if (!text) return; // it failed, which is said elsewhere
    const file = JSON.parse(text);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([file.text], { type: "text/plain" }));
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  return { acts, save };
})();

// Behaviour in the browser: sources beside an answer, uploads, filters, keyboard shortcuts.
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
      if (element.closest("#drop")) files(element, trigger);
      if (element.closest("#changes")) watch(element, trigger);
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

  // ---- the model that writes: looked for, tested and chosen in a dialog ----

  function nameWriter(name) {
    const label = document.querySelector("[data-writer]");
    const writes = document.querySelector("#mode input[value=free]")?.checked;
    const shown = writes ? name : ""; // quotes are nobody's own words
    if (label && name && label.textContent !== shown) label.textContent = shown;
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("#mode input")) nameWriter(modelName());
  });
  const modelName = () => document.querySelector("#changes [data-model]")?.dataset.model;

  // Gradio gives its buttons beside a box no names.
  function nameButtons() {
    const names = [
      ["#box .submit-button", gettext("Send the question")],
      ["#box .stop-button", gettext("Stop the answer")],
      ["#query .submit-button", gettext("Search")],
    ];
    for (const [selector, name] of names) {
      const button = document.querySelector(selector);
      if (button && button.getAttribute("aria-label") !== name) button.setAttribute("aria-label", name);
    }
  }

  new MutationObserver(() => {
    nameWriter(modelName());
    nameButtons();
    all("[role=toolbar]:not([data-one-step])").forEach(oneStep);
  }).observe(document, { childList: true, subtree: true });

  async function model(form, act) {
    const { address, key, folder, model: chosen } = Object.fromEntries(new FormData(form));
    const result = form.querySelector("[data-result]");
    const busy = act === "test" ? gettext("Testing …") : gettext("Asking …");
    result.innerHTML = "";
    result.textContent = busy;
    for (const button of all("button", form)) button.disabled = true;
    try {
      const response = await fetch(`model/${act}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ model: folder?.trim() || chosen || "", address: address || "", key: key || "" }),
      });
      const { html, model: name } = await response.json();
      const found = response.ok && (act === "look" || act === "list");
      (found ? form.querySelector("[data-found]") : result).innerHTML = html ?? "";
      if (found) result.textContent = "";
      if (response.ok && act === "use") form.querySelector("[name=key]").value = "";
      nameWriter(name);
    } catch {
      result.textContent = gettext("The server does not answer; is it still running?");
    }
    for (const button of all("button", form)) button.disabled = false;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-model-act]");
    if (button) model(button.closest("form"), button.dataset.modelAct);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-model-form]")) return;
    event.preventDefault();
    model(event.target, "use");
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

  // ---- questions: held until they can be sent, and given back when they did not arrive ----

  const UNSENT = "rag-app-unsent"; // in this window's storage, until the server has it
  const textarea = () => document.querySelector("#box textarea");
  const hasLoaded = () => Boolean(document.querySelector("#documents .documents"));
  const canSend = () => hasLoaded() && navigator.onLine;
  // Held questions survive a reload, which Gradio does when a connection is back.
  const HELD = "rag-app-held";
  let held = false;

  function hold() {
    held = true;
    sessionStorage.setItem(HELD, "1"); // until the question has arrived
  }

  function onSubmit(event) {
    const question = textarea()?.value ?? "";
    if (!question.trim()) return;
    sessionStorage.setItem(UNSENT, question);
    tell("");
    if (canSend()) return; // the page's own handlers send it
    event.preventDefault();
    event.stopImmediatePropagation();
    hold();
    tell(navigator.onLine
      ? gettext("The page is still loading. Your question is sent as soon as it has.")
      : gettext("You are offline. Your question is sent as soon as you are connected again."));
    sendHeld();
  }

  function sendHeld() {
    if (!held) return;
    const button = document.querySelector("#box .submit-button");
    if (!canSend() || !button) return void setTimeout(sendHeld, 100);
    held = false;
    tell("");
    if (textarea().value.trim()) button.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && event.target === textarea()) onSubmit(event);
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#box .submit-button")) onSubmit(event);
  }, true);

  // The request that carries the question tells whether it arrived.
  const fetchBefore = window.fetch.bind(window);
  window.fetch = async (...request) => {
    const question = sessionStorage.getItem(UNSENT);
    const body = request[1]?.body;
    const carries = question !== null && typeof body === "string"
      && body.includes(JSON.stringify(question));
    try {
      const response = await fetchBefore(...request);
      if (carries && response.ok) for (const name of [UNSENT, HELD]) sessionStorage.removeItem(name);
      else if (carries) giveBack();
      return response;
    } catch (error) {
      if (carries) giveBack();
      throw error;
    }
  };

  function giveBack() {
    const question = sessionStorage.getItem(UNSENT);
    const box = textarea();
    if (question === null || !box) return;
    tell(gettext(
      "Your question could not be sent; is the server still running? Press Enter to try again."));
    if (box.value.trim()) return;
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, question);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // After a reload: what was not sent before it stands in the box again.
  function restore() {
    if (!hasLoaded() || !textarea()) return void setTimeout(restore, 100);
    if (held) return;
    const again = sessionStorage.getItem(HELD) !== null;
    giveBack();
    if (!again) return;
    hold();
    sendHeld();
  }
  if (sessionStorage.getItem(UNSENT) !== null) restore();

  function tell(text) {
    let line = document.getElementById("unsent");
    if (!line && text) {
      line = document.createElement("p");
      line.id = "unsent";
      line.className = "notice";
      line.setAttribute("role", "status");
      document.getElementById("composer")?.prepend(line);
    }
    if (line) {
      line.textContent = text;
      line.hidden = !text;
    }
  }

  // ---- files ----

  function files(element, trigger) {
    receive = (picked) => send(element, picked, trigger);
    for (const picked of early.splice(0)) receive(picked);
  }

  let receive = null; // what is done with files once the zone is there
  const early = []; // files that were picked or dropped before

  function add(picked) {
    if (receive) receive(picked);
    else early.push(picked);
  }

  document.addEventListener("click", (event) => {
    const pick = event.target.closest?.("[data-pick]");
    if (pick) document.querySelector(`[data-picked=${pick.dataset.pick}]`).click();
  });
  document.addEventListener("change", (event) => {
    const input = event.target.closest?.("[data-picked]");
    if (!input) return;
    const picked = [...input.files]
      .map((file) => [file.webkitRelativePath || file.name, file])
      .filter(([name]) => !isHidden(name));
    input.value = "";
    add(picked);
  });

  // A file may be dropped anywhere, also while the page loads: a browser would leave it to show it.
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
    });
  }
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file")
      .map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]);
    add((await Promise.all(items.map(([entry, file]) => (
      entry ? within(entry) : [[file.name, file]]
    )))).flat());
  });

  // Whether a file lies in a folder that was picked, and there under a hidden name.
  const isHidden = (path) => path.split("/").slice(1).some((part) => part.startsWith("."));

  // The files below a dropped entry, with their paths; hidden ones are skipped.
  async function within(entry, before = "") {
    const path = before + entry.name;
    if (before && entry.name.startsWith(".")) return [];
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed)).catch(() => null);
      return file ? [[path, file]] : [];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed))
        .catch(() => []);
      if (!some.length) break;
      found.push(...some);
    }
    return (await Promise.all(found.map((each) => within(each, `${path}/`)))).flat();
  }

  async function send(element, picked, trigger) {
    const list = element.querySelector("[data-sending]");
    const { dropzone, recordings } = element.querySelector("[data-dropzone]").dataset;
    const has = (suffixes) => ([name]) => (
      suffixes.split(", ").some((suffix) => name.toLowerCase().endsWith(suffix))
    );
    const stem = (name) => name.replace(/\.[^./]*$/, "");
    const stems = new Set(picked.filter(has(dropzone))
      .flatMap(([name]) => [stem(name), stem(stem(name))]));
    const beside = (one) => has(recordings)(one) && stems.has(stem(one[0]));
    // A file picked by itself is sent, and refused with a reason; in folders, such files are skipped,
    // and recordings without a document of their name.
    const files = picked.filter((one) => !one[0].includes("/") || has(dropzone)(one) || beside(one));
    if (files.length < picked.length) {
      const skipped = picked.length - files.length;
      remark(list, ngettext("%(num)s file of an unsupported type skipped",
        "%(num)s files of unsupported types skipped", skipped));
    }
    let watched = false;
    for (const [name, file] of files) {
      const row = list.appendChild(document.createElement("li"));
      row.textContent = name;
      const begin = performance.now();
      const error = await sendOne(name, file, (share) => {
        row.style.setProperty("--share", `${Math.round(100 * share)}%`);
        const left = (performance.now() - begin) * (1 - share) / Math.max(share, 0.01) / 1000;
        const time = `${count(Math.round(left))} s`;
        row.textContent = left >= 5 ? `${name} · ${gettext("%(time)s left", { time })}` : name;
      });
      row.remove();
      if (error) {
        remark(list, `${name}: ${error}`).classList.add("failed");
      } else {
        if (!watched) trigger("uploaded", {});
        watched = true;
      }
    }
    if (watched) trigger("uploaded", {});
  }

  // What was not sent is told until somebody has read it.
  function remark(list, text) {
    const row = document.createElement("li");
    row.className = "remark";
    row.textContent = text;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "quiet", textContent: gettext("Dismiss") });
    button.setAttribute("aria-label", `${gettext("Dismiss")}: ${text}`);
    button.addEventListener("click", () => row.remove());
    row.append(" ", button);
    list.appendChild(row);
    row.scrollIntoView({ block: "nearest" });
    return row;
  }

  document.addEventListener("click", (event) => {
    const every = event.target.closest?.("[data-dismiss], [data-act=clear_list]");
    if (every) for (const row of all("[data-sending] .remark")) row.remove();
  });

  function sendOne(name, file, progress) {
    return new Promise((done) => {
      const request = new XMLHttpRequest();
      request.open("POST", "files");
      request.setRequestHeader("X-Name", encodeURIComponent(name));
      request.upload.onprogress = (event) => progress(event.loaded / Math.max(event.total, 1));
      request.onerror = () => done(gettext("could not be sent; is the server still running?"));
      request.onload = () => {
        if (request.status === 201) return done("");
        try {
          done(JSON.parse(request.responseText).error);
        } catch {
          done(gettext("was refused (%(number)s)", { number: request.status }));
        }
      };
      request.send(file);
    });
  }

  // ---- saving ----

  function save(text) {
    const file = JSON.parse(text);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([file.text], { type: "text/plain" }));
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  return { acts, save };
})();

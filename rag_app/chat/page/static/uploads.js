// Files that are picked, or dropped anywhere on the page, are sent one after another.
"use strict";

const ragAppUploads = (() => {
  function connect(element, trigger) {
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
    if (every) for (const row of document.querySelectorAll("[data-sending] .remark")) row.remove();
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

  return { connect };
})();

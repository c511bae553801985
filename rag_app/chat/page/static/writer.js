// The model that writes: looked for, tested and chosen in a dialog, and named beside the box.
"use strict";

(() => {
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
  }).observe(document, { childList: true, subtree: true });

  async function model(form, act) {
    const { address, key, folder, model: chosen } = Object.fromEntries(new FormData(form));
    const result = form.querySelector("[data-result]");
    const busy = act === "test" ? gettext("Testing …") : gettext("Asking …");
    result.innerHTML = "";
    result.textContent = busy;
    for (const button of form.querySelectorAll("button")) button.disabled = true;
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
    for (const button of form.querySelectorAll("button")) button.disabled = false;
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
})();

// Questions are held until they can be sent, and given back when they did not arrive.
"use strict";

(() => {
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
})();

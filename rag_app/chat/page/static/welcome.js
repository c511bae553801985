// Before the first question: suggested questions are asked.
"use strict";

document.addEventListener("click", (event) => {
  const question = event.target.closest?.("[data-ask]")?.dataset.ask;
  const box = document.querySelector("#box textarea");
  if (question === undefined || !box) return;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, question);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  // Gradio takes the value over first.
  setTimeout(() => document.querySelector("#box .submit-button")?.click(), 50);
});

// Before the first question: files are chosen, and suggested questions are asked.
"use strict";

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest?.(selector);
  const add = on("[data-add]");
  if (add) document.querySelector(`[data-picked=${add.dataset.add}]`)?.click();
  const question = on("[data-ask]")?.dataset.ask;
  const box = document.querySelector("#box textarea");
  if (question === undefined || !box) return;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, question);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  // Gradio takes the value over first.
  setTimeout(() => document.querySelector("#box .submit-button")?.click(), 50);
});

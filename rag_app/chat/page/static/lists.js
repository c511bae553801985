// Lists that are rendered again: what they follow, and where the focus stays.
"use strict";

const ragAppLists = (() => {
  // The register is read again while it is seen, once other documents are there or ticked.
  function keepUp(element, trigger) {
    const lists = new MutationObserver(() => {
      if (element.checkVisibility()) trigger("show_register", {});
    });
    for (const id of ["collections", "documents"]) {
      lists.observe(document.getElementById(id), { childList: true, subtree: true });
    }
  }

  // Whoever presses a button that goes with its line is at the next one.
  function keepFocus(element) {
    let at = -1;
    const buttons = () => [...element.querySelectorAll("[data-act]")];
    element.addEventListener("click", (event) => {
      at = buttons().indexOf(event.target.closest("[data-act]"));
    });
    new MutationObserver(() => {
      if (at < 0 || document.activeElement !== document.body) return;
      const next = buttons()[at] ?? buttons().at(-1);
      (next ?? document.querySelector("#views [role=tab][aria-selected=true]"))?.focus();
      at = -1;
    }).observe(element, { childList: true, subtree: true });
  }

  return { keepUp, keepFocus };
})();

// What the scripts say, in the language of the page: gettext's messages, from `words.js`.
"use strict";

// A message, its %(name)s filled in.
function gettext(message, values = {}) {
  const found = ragAppLanguage.messages[message];
  return filledIn(found || message, values);
}

// A message about so many things; %(num)s is their number.
function ngettext(one, many, number, values = {}) {
  const found = ragAppLanguage.messages[one]?.[ragAppLanguage.form(number)];
  return filledIn(found || (number === 1 ? one : many), { num: count(number), ...values });
}

const filledIn = (text, values) => text.replace(/%\((\w+)\)s/g, (whole, name) => values[name] ?? whole);

// A whole number as it is written in the language.
const count = (number) => number.toLocaleString(ragAppLanguage.locale);

// Whoever chooses another language has the page in it from now on.
document.addEventListener("change", (event) => {
  if (!event.target.matches?.("[data-language]")) return;
  document.cookie = `${ragAppLanguage.cookie}=${event.target.value}; max-age=31536000; samesite=strict`;
  location.reload();
});

// Who has logged in by the form may log out; a browser that sends a password cannot.
async function showLogout(form) {
  const { user, by } = await (await fetch("session")).json();
  if (by !== "session") return;
  form.querySelector("button").title = gettext("Logged in as %(user)s", { user });
  form.hidden = false;
}

// The choice shows the language that the page is in.
new MutationObserver(() => {
  const choice = document.querySelector("[data-language]:not([data-shown])");
  if (!choice) return;
  choice.dataset.shown = "";
  choice.value = ragAppLanguage.code;
  showLogout(document.querySelector("form.logout")).catch(() => {});
}).observe(document, { childList: true, subtree: true });

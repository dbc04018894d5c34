// Opens and closes the page's dialogs.
"use strict";

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
});

// A click on the dialog itself, not on something in it, is one on the backdrop.
document.addEventListener("mousedown", (event) => {
  if (event.target.matches("dialog")) event.target.close();
});

// Opens and closes the page's dialogs and the small boxes under a post.
"use strict";

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) {
    const dialog = document.getElementById(opener.dataset.opens);
    const form = dialog.querySelector("form");
    // One dialog serves every post of the page: the opener says which is meant.
    if (form.dataset.sends === undefined) form.action = opener.dataset.path;
    else form.dataset.sends = "/api" + opener.dataset.path;
    dialog.showModal();
  }
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();

  const revealer = event.target.closest("[data-reveals]");
  if (revealer) {
    const box = document.getElementById(revealer.dataset.reveals);
    box.hidden = !box.hidden;
    if (!box.hidden) box.querySelector("textarea").focus();
  }
  const hider = event.target.closest("[data-hides]");
  if (hider) hider.closest(".inline").hidden = true;
});

// A click on the dialog itself, not on something in it, is one on the backdrop.
document.addEventListener("mousedown", (event) => {
  if (event.target.matches("dialog")) event.target.close();
});

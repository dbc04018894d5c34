// Votes without leaving the page: the site answers with the control as it is now.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-vote]");
  if (!button) return;
  const control = button.closest("[data-votes]");
  const place = [...control.querySelectorAll("button")].indexOf(button);
  control.querySelectorAll("button").forEach((each) => (each.disabled = true));
  try {
    const reply = await window.forum.send(button.dataset.vote, { value: button.dataset.value });
    const made = document.createRange().createContextualFragment(reply.html.trim()).firstElementChild;
    control.replaceWith(made);
    made.querySelectorAll("button")[place].focus();
  } catch (error) {
    control.querySelectorAll("button").forEach((each) => (each.disabled = false));
    window.forum.complain(control, error.message);
  }
});

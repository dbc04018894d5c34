// Shows what a text will look like, and sends the forms that are sent by script.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-preview]");
  if (!button) return;
  const field = document.getElementById(button.dataset.preview);
  const region = document.querySelector(`[data-shows="${button.dataset.preview}"]`);
  try {
    const reply = await window.forum.send("/api/preview", { text: field.value });
    region.innerHTML = reply.html || "<p>There is nothing to preview yet.</p>";
    region.hidden = false;
  } catch (error) {
    window.forum.complain(button, error.message);
  }
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-sends]");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button:not([type=button])");
  const wrong = form.querySelector(":scope > .wrong");
  button.disabled = true;
  wrong.hidden = true;
  try {
    const reply = await window.forum.send(form.dataset.sends, Object.fromEntries(new FormData(form)));
    window.forum.go(reply.location);
  } catch (error) {
    wrong.textContent = error.message;
    wrong.hidden = false;
    button.disabled = false;
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-press]");
  if (!button) return;
  button.disabled = true;
  try {
    const reply = await window.forum.send(button.dataset.press, { on: button.dataset.on });
    window.forum.go(reply.location);
  } catch (error) {
    button.disabled = false;
    window.forum.complain(button, error.message);
  }
});

// Selecting conversations in a list, and stars.
"use strict";

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-bulk]");
  if (!form) return;
  const ticks = [...form.querySelectorAll(".tick")];
  const all = form.querySelector("[data-all]");
  if (event.target === all) for (const tick of ticks) tick.checked = all.checked;
  const count = ticks.filter((tick) => tick.checked).length;
  form.classList.toggle("is-choosing", count > 0);
  const bar = form.querySelector("[data-bar]");
  if (!bar) return;
  all.checked = count === ticks.length;
  if (bar.dataset.bar !== "always") bar.hidden = count === 0;
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-star]");
  if (!button) return;
  const starred = !button.classList.contains("is-on");
  button.disabled = true;
  try {
    await window.mail.send("/api/star", { message: Number(button.dataset.star), starred });
    for (const each of document.querySelectorAll(`[data-star="${button.dataset.star}"]`)) {
      each.classList.toggle("is-on", starred);
      each.setAttribute("aria-label", starred ? each.dataset.on : each.dataset.off);
    }
  } catch (error) {
    window.mail.complain(error);
  }
  button.disabled = false;
});

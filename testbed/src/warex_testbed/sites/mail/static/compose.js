// Letters and forms in the sheet, and the fields that a form shows only on demand.
"use strict";

document.addEventListener("click", async (event) => {
  const shower = event.target.closest("[data-shows]");
  if (shower) {
    for (const id of shower.dataset.shows.split(" ")) document.getElementById(id).hidden = false;
    shower.hidden = true;
  }
  const opener = event.target.closest("[data-sheet]");
  if (!opener) return;
  const sheet = document.getElementById("sheet");
  try {
    sheet.innerHTML = await window.mail.piece(opener.dataset.sheet);
    sheet.setAttribute("aria-label", sheet.querySelector("h2").textContent);
    sheet.showModal();
  } catch (error) {
    window.mail.complain(error);
  }
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-letter]");
  const button = event.submitter || form?.querySelector(".strong");
  if (!form || !form.closest("dialog") || button.value === "discard") return;
  event.preventDefault();
  const wrong = form.querySelector("[data-wrong]");
  const path = button.value === "draft" ? "/api/drafts" : "/api/messages";
  button.disabled = true;
  wrong.hidden = true;
  const fields = Object.fromEntries(new FormData(form));
  if (form.dataset.anyway) fields.no_subject = "yes";
  try {
    const reply = await window.mail.send(path, fields);
    location.assign(reply.location);
  } catch (error) {
    wrong.textContent = error.message;
    wrong.hidden = false;
    if (error.confirm) {
      form.dataset.anyway = "yes";
      button.textContent = button.dataset.anyway;
    }
    button.disabled = false;
  }
});

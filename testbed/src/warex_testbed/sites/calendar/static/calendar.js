// Sends what a dialog holds, and opens the create dialog from an empty day.
"use strict";

async function send(sheet) {
  const button = sheet.querySelector("[data-send]");
  const wrong = sheet.querySelector(".wrong");
  const named = sheet.querySelectorAll("[name]");
  const data = Object.fromEntries([...named].map((field) => [field.name, field.value]));
  button.disabled = true;
  wrong.hidden = true;
  try {
    const reply = await window.daybook.send(sheet.dataset.sends, sheet.dataset.path, data);
    location.assign(reply.location);
  } catch (error) {
    wrong.textContent = error.message;
    wrong.hidden = false;
    button.disabled = false;
  }
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-send]")) send(event.target.closest("[data-sends]"));
});

document.addEventListener("keydown", (event) => {
  const sheet = event.target.closest("[data-sends]");
  if (sheet && event.key === "Enter" && event.target.matches("input")) send(sheet);
});

document.addEventListener("dblclick", (event) => {
  if (!event.target.matches("td[data-date]")) return;
  document.getElementById("quick-date").value = event.target.dataset.date;
  document.getElementById("create-dialog").showModal();
});

// Puts products into the basket and changes what is in it.
"use strict";

async function put(button) {
  const form = button.closest("[data-buy]");
  const fields = form ? Object.fromEntries(new FormData(form)) : { product: button.dataset.add };
  button.disabled = true;
  try {
    const reply = await window.shop.send("POST", "/api/cart", fields);
    const badge = document.querySelector(".badge");
    badge.textContent = badge.dataset.pieces = reply.pieces;
    document.querySelector(".cart-link").setAttribute("aria-label", reply.label);
    window.shop.say(reply.message, "status");
  } catch (error) {
    window.shop.say(error.message, "alert");
  } finally {
    button.disabled = false;
  }
}

async function change(method, line, data) {
  try {
    const reply = await window.shop.send(method, `/api/cart/${line}`, data);
    location.assign(reply.location);
  } catch (error) {
    document.querySelector("dialog[open]")?.close();
    window.shop.say(error.message, "alert");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.add) put(button);
  if (button.dataset.line) change("POST", button.dataset.line, { quantity: button.dataset.quantity });
  if (button.dataset.removes) change("DELETE", button.dataset.removes);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-buy]")) return;
  event.preventDefault();
  put(event.target.querySelector("[data-add]"));
});

// Opens and closes the page's dialogs; a quick view is fetched first.
"use strict";

async function quick(number) {
  try {
    const html = await window.shop.load(`/products/${number}/quick`);
    document.getElementById("quick").innerHTML = html;
    document.getElementById("quick-dialog").showModal();
  } catch (error) {
    window.shop.say(error.message, "alert");
  }
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
  const looker = event.target.closest("[data-quick]");
  if (looker) quick(looker.dataset.quick);
});

// A click on the dialog itself, not on something in it, is one on the backdrop.
document.addEventListener("mousedown", (event) => {
  if (event.target.matches("dialog")) event.target.close();
});

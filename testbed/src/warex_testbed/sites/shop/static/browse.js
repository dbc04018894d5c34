// Narrows and sorts a list, and turns a product's tabs, without leaving the page.
"use strict";

async function swap(address, part, target) {
  const place = document.getElementById(target);
  place.setAttribute("aria-busy", "true");
  try {
    place.innerHTML = await window.shop.load(address, part);
    return true;
  } catch (error) {
    window.shop.say(error.message, "alert");
    return false;
  } finally {
    place.removeAttribute("aria-busy");
  }
}

async function narrow() {
  const forms = [...document.querySelectorAll("[data-browse]")];
  const fields = forms.flatMap((form) => [...new FormData(form)]).filter(([, value]) => value);
  const address = `${location.pathname}?${new URLSearchParams(fields)}`;
  if (await swap(address, "results", "results")) history.pushState({}, "", address);
}

document.addEventListener("change", (event) => {
  if (event.target.closest("[data-browse]")) narrow();
});

document.addEventListener("click", async (event) => {
  const tab = event.target.closest("[data-swap]");
  if (tab && (await swap(tab.dataset.swap, "tab", "tab"))) history.pushState({}, "", tab.dataset.swap);
});

window.addEventListener("popstate", () => {
  if (document.getElementById("results")) swap(location.href, "results", "results");
  else if (document.getElementById("tab")) swap(location.href, "tab", "tab");
});

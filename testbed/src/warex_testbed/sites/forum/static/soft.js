// Tabs and orders without a new document: the page is fetched and its main part put in place.
"use strict";

async function show(address) {
  const main = document.querySelector("main");
  main.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error("This list could not be loaded. Try again.");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("main");
    if (!fresh) throw new Error("This list could not be loaded. Try again.");
    main.replaceWith(document.adoptNode(fresh));
    document.title = page.title;
    document.querySelector(".toast")?.remove();
    return true;
  } catch (error) {
    main.removeAttribute("aria-busy");
    window.forum.complain(main.querySelector("[role=tablist]"), error.message);
    return false;
  }
}

document.addEventListener("click", async (event) => {
  const tab = event.target.closest("[data-soft]");
  if (!tab) return;
  const address = tab.dataset.soft;
  if (await show(address)) history.pushState(null, "", address);
});

addEventListener("popstate", () => show(location.href));

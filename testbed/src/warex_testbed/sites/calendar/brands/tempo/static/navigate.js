// Changes the view without loading a document: the next page's middle takes the place of this one's.
"use strict";

async function show(address, push) {
  const here = document.getElementById("page");
  here.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.statusText);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const there = next.getElementById("page");
    if (push) history.pushState(null, "", address);
    document.title = there.dataset.title;
    document.body.className = next.body.className;
    here.replaceWith(there);
  } catch {
    here.removeAttribute("aria-busy");
    here.querySelector(".lost").hidden = false;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-soft]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link.href, true);
});

addEventListener("popstate", () => show(location.href, false));

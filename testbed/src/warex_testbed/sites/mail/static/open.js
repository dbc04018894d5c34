// Opens conversations beside the list, without loading the page again.
"use strict";

async function open(link) {
  const target = new URL(link.href);
  const main = document.getElementById("main");
  try {
    main.innerHTML = await window.mail.piece(`${target.pathname}/pane${target.search}`);
  } catch (error) {
    window.mail.complain(error);
    return;
  }
  history.pushState({}, "", target.pathname + target.search);
  document.title = main.querySelector("h1").textContent;
  document.body.classList.add("has-open");
  main.scrollTop = 0;
  for (const row of document.querySelectorAll("[data-row]")) {
    const opened = row.dataset.row === link.dataset.thread;
    row.classList.toggle("is-open", opened);
    if (!opened || !row.classList.contains("is-unread")) continue;
    row.classList.remove("is-unread");
    row.querySelector(".unread").remove();
  }
  const counts = JSON.parse(main.querySelector("[data-counts]").dataset.counts);
  for (const folder of document.querySelectorAll("[data-folder]")) {
    const count = folder.querySelector(".count");
    if (count) count.textContent = counts[folder.dataset.folder] || "";
  }
  // One set of tools at a time: the opened conversation has its own.
  document.querySelector("[data-bar]")?.remove();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-thread]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  open(link);
});

addEventListener("popstate", () => location.reload());

// What every page needs: talking to the site.
"use strict";

window.forum = {
  async send(path, data) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(data),
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.error || "Something went wrong. Nothing was sent.");
    return reply;
  },

  // An address that differs only behind its # would not be loaded again.
  go(where) {
    const there = new URL(where, location.href);
    const same = there.pathname + there.search === location.pathname + location.search;
    if (same && there.hash) history.replaceState(null, "", there);
    if (same) location.reload();
    else location.assign(there);
  },

  complain(near, sentence) {
    const old = near.parentElement.querySelector(":scope > .wrong.loose");
    const wrong = old || document.createElement("p");
    wrong.className = "wrong loose";
    wrong.setAttribute("role", "alert");
    wrong.textContent = sentence;
    if (!old) near.after(wrong);
  },
};

// What every page needs: talking to the shop, and saying how it went.
"use strict";

window.shop = {
  async send(method, path, data) {
    const answer = await fetch(path, {
      method,
      headers: { "Content-Type": "application/json" },
      body: method === "DELETE" ? undefined : JSON.stringify(data),
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.error || "Something went wrong. Please try again.");
    return reply;
  },

  async load(path, part) {
    const address = new URL(path, location.href);
    if (part) address.searchParams.set("part", part);
    const answer = await fetch(address);
    if (!answer.ok) throw new Error("This could not be loaded. Please try again.");
    return answer.text();
  },

  say(message, role) {
    const toast = document.getElementById("toast");
    toast.textContent = message;
    toast.setAttribute("role", role);
    toast.setAttribute("aria-label", message);
    toast.hidden = false;
  },
};

// What every page needs: talking to the site, and showing or hiding calendars.
"use strict";

window.daybook = {
  async send(method, path, data) {
    const answer = await fetch(path, {
      method,
      headers: { "Content-Type": "application/json" },
      body: method === "DELETE" ? undefined : JSON.stringify(data),
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.error || "Something went wrong. Nothing was changed.");
    return reply;
  },

  goWith(done) {
    const here = new URL(location.href);
    here.searchParams.set("done", done);
    location.assign(here);
  },
};

document.addEventListener("change", async (event) => {
  const box = event.target.closest("[data-calendar]");
  if (!box) return;
  try {
    const wanted = { name: box.dataset.calendar, visible: box.checked };
    const reply = await window.daybook.send("POST", "/api/calendars", wanted);
    window.daybook.goWith(reply.done);
  } catch {
    box.checked = !box.checked;
  }
});

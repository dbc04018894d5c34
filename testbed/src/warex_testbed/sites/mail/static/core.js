// What every page needs: talking to the site, dialogs, and saying what went wrong.
"use strict";

window.mail = {
  async send(path, data) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(data),
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = new Error(reply.error || "Something went wrong. Nothing was changed.");
      error.confirm = Boolean(reply.confirm);
      throw error;
    }
    return reply;
  },

  async piece(path) {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error("That could not be loaded. Please try again.");
    return answer.text();
  },

  complain(error) {
    const trouble = document.getElementById("trouble");
    trouble.textContent = error.message;
    trouble.hidden = false;
  },
};

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
});

// A click on the dialog itself, not on something in it, is one on the backdrop.
document.addEventListener("mousedown", (event) => {
  if (event.target.matches("dialog:not(.sheet)")) event.target.close();
});

"""An account book by hand-written fetch: GraphQL at one address, tokens, a socketless feed."""

import json
from typing import Any

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json
from tests.analysis.trajectories.second_collector.sites.apps.libraries import script, shell

HOST = "ledger.test"
BASE = f"https://{HOST}"

_ACCOUNTS = {"rent": 1180, "travel": 342, "tools": 96, "books": 58}

_APP = """
const root = document.getElementById('root'), el = i => document.getElementById(i);
let token = null, view = null;
async function refresh() { const r = await fetch('/auth/token', {method: 'POST'});
  if (!r.ok) throw new Error('no token, ' + r.status); token = (await r.json()).token }
async function ask(operationName, variables = {}, query = operationName, second = false) {
  if (!token) await refresh();
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), 2500);
  try {
    const r = await fetch('/graphql', {method: 'POST', signal: stop.signal, headers:
      {'Content-Type': 'application/json', Authorization: 'Bearer ' + token},
      body: JSON.stringify({operationName, variables, query})});
    if (r.status === 401 && !second) { token = null;
      return ask(operationName, variables, query, true) }
    if (!r.ok) throw new Error('the server says ' + r.status);
    const d = await r.json(); if (d.errors) throw new Error(d.errors[0].message); return d.data
  } finally { clearTimeout(timer) } }
const bar = `<nav><button id=accounts>Accounts</button> <button id=entries>Entries</button>
  <button id=new>New entry</button></nav><div id=banner></div><div id=view></div>`;
root.innerHTML = bar;
function banner(text) { el('banner').innerHTML = text
  ? `<p role=alert>${text} <button id=reconnect>Reconnect</button></p>` : '';
  if (text) el('reconnect').onclick = () => show(view) }
async function show(which) { view = which; sessionStorage.view = which;
  el('view').innerHTML = '<p>One moment</p>';
  try { await views[which](); banner('') }
  catch (e) { el('view').innerHTML = ''; banner('Not available: ' + e.message) } }
const views = {
  async accounts() { const d = await ask('Accounts'); el('view').innerHTML = '<h2>Accounts</h2>'
    + d.accounts.map(a => `<p><button id=acc-${a.name}>${a.name}</button></p>`).join('')
    + '<p id=sum></p>';
    for (const a of d.accounts) el('acc-' + a.name).onclick = async () => {
      try { const s = await ask('Balance', {name: a.name}); el('sum').textContent = 'Balance of '
        + a.name + ': ' + s.balance } catch (e) { el('sum').textContent =
        'The balance of ' + a.name + ' is not known (' + e.message + ')' } } },
  async entries() { const d = await ask('Entries', {after: 0}); let next = d.next;
    el('view').innerHTML = `<h2>Entries</h2><div id=list>${d.items.join('<br>')}</div>
      <button id=older>Older entries</button>`;
    el('older').onclick = async () => { try { const m = await ask('Entries', {after: next});
        next = m.next; el('list').innerHTML += '<br>' + m.items.join('<br>') }
      catch (e) { el('list').innerHTML += '<br>(older entries failed: ' + e.message + ')' } } },
  async new() { el('view').innerHTML = `<h2>New entry</h2><input id=text placeholder=Text>
      <button id=save>Save</button><p id=done></p>`;
    el('save').onclick = async () => { const text = el('text').value;
      el('done').textContent = 'Saving'; try { const d = await ask('AddEntry', {text});
        el('done').textContent = 'Saved as ' + d.id }
      catch (e) { el('done').textContent = 'Not saved: ' + e.message } } },
};
for (const v of Object.keys(views)) el(v).onclick = () => show(v);
show(sessionStorage.view || 'accounts');
setInterval(() => fetch('/feed?since=' + Math.floor(performance.now())).catch(() => {}), 1700);
"""


def _resolve(name: str, fields: dict[str, Any], world: World) -> dict[str, Any]:
    match name:
        case "Accounts":
            return {"accounts": [{"name": n} for n in _ACCOUNTS]}
        case "Balance":
            return {"balance": _ACCOUNTS[fields["name"]]}
        case "Entries":
            lines = ["lamp oil 12", "train 88", "glue 4", "atlas 31", "rent 590"]
            lines = world.comments + lines
            after = fields["after"]
            return {"items": lines[after : after + 2], "next": after + 2}
        case _:
            world.comments.insert(0, fields["text"])
            return {"id": f"E{200 + len(world.comments)}"}


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the account book."""
    match asked.path:
        case "/":
            return shell("Ledger", [], "/book.js")
        case "/book.js":
            return script(_APP)
        case "/auth/token":
            return as_json({"token": f"t{world.count('token')}"})
        case "/feed":
            return as_json([])
        case "/graphql":
            question = json.loads(asked.body)
            name, inputs = question["operationName"], question["variables"]
            return as_json({"data": _resolve(name, inputs, world)})
    return None

"""A single-page app: projects, tasks, comments, a search by GraphQL, a poll and an offline page."""

import json

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json

HOST = "board.test"
BASE = f"https://{HOST}"

_PROJECTS = {
    "apollo": {"name": "Apollo", "owner": "Ines Marsh", "budget": 48200, "tasks": ["paint"]},
    "beacon": {"name": "Beacon", "owner": "Tom Oduya", "budget": 7350, "tasks": ["wire", "test"]},
    "cobalt": {"name": "Cobalt", "owner": "Li Wen", "budget": 15900, "tasks": ["ship"]},
}

_APP = """
const view = document.getElementById('view'), el = i => document.getElementById(i);
const show = html => { view.innerHTML = html };
async function ask(path, options) {
  const a = await fetch(path, options); if (!a.ok) throw new Error(a.status); return a.json() }
async function projects() {
  show('Loading projects');
  try { const all = await ask('/api/projects');
    show('<h1>Projects</h1>' + all.map(p => `<a id=${p.id} href=/project/${p.id} data-link>`
      + `${p.name}</a>`).join(' ')) }
  catch { show('<p>Projects could not be loaded.</p><button id=again>Try again</button>');
    el('again').onclick = projects } }
async function project(id) {
  show('Loading project');
  try { const p = await ask('/api/project/' + id);
    show(`<h1>${p.name}</h1><p>Owner: ${p.owner}. Budget: ${p.budget} euros.</p>`
      + p.tasks.map(t => `<label><input type=checkbox id=${t.id} ${t.done ? 'checked' : ''}>`
      + ` ${t.id}</label> <span id=state-${t.id}>${t.done ? 'done' : 'open'}</span>`).join('<br>')
      + '<p><input id=text placeholder=Comment><button id=send>Comment</button><p id=said></p>');
    for (const t of p.tasks) el(t.id).onchange = () => toggle(t.id);
    el('send').onclick = () => comment(id, el('text').value) }
  catch { show('<p>Oops, something went wrong.</p><button id=again>Try again</button>');
    el('again').onclick = () => project(id) } }
async function toggle(id) {
  const box = el(id), at = el('state-' + id); at.textContent = box.checked ? 'done' : 'open';
  try { await ask('/api/task/' + id, {method: 'PATCH', body: JSON.stringify({done: box.checked})}) }
  catch { box.checked = !box.checked; at.textContent = 'not saved, undone' } }
async function comment(id, text) {
  for (const pause of [400, 900, 1800, 0]) {
    el('said').textContent = 'Sending';
    try { const n = await ask('/api/comments', {method: 'POST', body: JSON.stringify({id, text})});
      el('said').textContent = 'Comment ' + n.number + ' posted'; return }
    catch { if (!pause) break; await new Promise(r => setTimeout(r, pause)) } }
  el('said').textContent = 'Your comment was not sent' }
async function find() {
  const q = el('q').value; show('Searching');
  try { const a = await ask('/graphql', {method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({operationName: 'Search', variables: {q},
        query: 'query Search($q: String) { search(q: $q) { name owner } }'})});
    if (a.errors) throw 0;
    show('<h1>Results</h1>' + a.data.search.map(p => `<p>${p.name}, owner ${p.owner}</p>`).join('')
      + `<p>${a.data.search.length} results`) }
  catch { show('<p>The search failed.</p>') } }
function route() {
  const [, where, id] = location.pathname.split('/');
  if (where === 'project') project(id); else if (where === 'projects') projects();
  else if (where === 'draft') draft();
  else show('<h1>Board</h1><p>Choose a section.</p>') }
async function draft() {
  show('<h1>Draft</h1><textarea id=text></textarea><p id=saved></p>');
  let t; el('text').oninput = () => { clearTimeout(t); t = setTimeout(save, 500) };
  async function save() { try { await ask('/api/draft', {method: 'PUT', body: el('text').value});
    el('saved').textContent = 'Saved' } catch { el('saved').textContent = 'Saving failed, retrying';
    setTimeout(save, 2500) } } }
document.addEventListener('click', e => { const a = e.target.closest('a[data-link]');
  if (a) { e.preventDefault(); history.pushState(null, '', a.href); route() } });
onpopstate = route; el('find').onclick = find; route();
async function poll() { try { el('bell').textContent = 'News: ' +
  (await ask('/api/news')).text } catch { el('bell').textContent = 'News: -' } }
poll(); setInterval(poll, 3000);
"""

_OFFLINE = """
const at = document.getElementById('at');
async function load() { at.textContent = 'Loading';
  try { const a = await fetch('/api/weather'); if (!a.ok) throw 0;
    at.textContent = 'Wind: ' + (await a.json()).wind + ' knots' }
  catch { at.innerHTML = 'You seem to be offline. <button id=again>Try again</button>';
    document.getElementById('again').onclick = load } }
navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(load);
"""

_WORKER = """
onactivate = e => e.waitUntil(clients.claim());
async function twice(request) {
  try { const a = await fetch(request.clone()); if (a.status < 500) return a } catch { }
  await new Promise(r => setTimeout(r, 600)); return fetch(request) }
onfetch = e => { if (e.request.url.includes('/api/weather')) e.respondWith(twice(e.request)) };
"""

_SHELL = (
    "<!doctype html><title>Board</title><link rel=icon href=data:,>"
    "<nav><a id=home href=/ data-link>Board</a>"
    " <a id=projects href=/projects data-link>Projects</a>"
    " <a id=draft href=/draft data-link>Draft</a> <input id=q placeholder=Search>"
    "<button id=find>Find</button> <span id=bell></span></nav>"
    "<div id=view>The page is starting.</div><script src=/app.js></script>"
)


def _api(asked: Asked, world: World) -> Answer | None:
    path = asked.path
    if path == "/api/projects":
        return as_json([{"id": k, "name": v["name"]} for k, v in _PROJECTS.items()])
    if path.startswith("/api/project/"):
        result = _PROJECTS.get(path.rsplit("/", 1)[1])
        names = result["tasks"] if result else []
        assert isinstance(names, list)
        tasks = [{"id": t, "done": t in world.done} for t in names]
        return as_json(result | {"tasks": tasks}) if result else None
    if path.startswith("/api/task/"):
        name = path.rsplit("/", 1)[1]
        (world.done.add if json.loads(asked.body)["done"] else world.done.discard)(name)
        return as_json({"ok": True})
    match path:
        case "/api/comments":
            world.comments.append(json.loads(asked.body)["text"])
            return as_json({"number": len(world.comments)})
        case "/api/news":
            return as_json({"text": "none"})
        case "/api/draft":
            world.draft = asked.body
            return as_json({"ok": True})
        case "/api/weather":
            return as_json({"wind": 17})
        case "/graphql":
            q = json.loads(asked.body)["variables"]["q"].lower()
            found_ = [p for p in _PROJECTS.values() if q in str(p["name"]).lower()]
            rows = [{"name": p["name"], "owner": p["owner"]} for p in found_]
            return as_json({"data": {"search": rows}})
    return None


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the board."""
    if asked.path.startswith("/api/") or asked.path == "/graphql":
        return _api(asked, world)
    match asked.path:
        case "/app.js":
            return Answer(_APP, "text/javascript", headers={"Cache-Control": "no-store"})
        case "/sw.js":
            return Answer(_WORKER, "text/javascript", headers={"Cache-Control": "no-store"})
        case "/wind":
            return Answer(
                "<!doctype html><title>Wind</title><link rel=icon href=data:,><h1>Wind</h1>"
                f"<p id=at>Starting</p><script>{_OFFLINE}</script>"
            )
        case "/stall":
            return Answer(
                "<!doctype html><title>Stock</title><link rel=icon href=data:,><h1>Stock</h1>"
                "<p id=at>Starting</p><button id=reload onclick=location.reload()>Reload page"
                "</button><script>fetch('/api/projects').then(a => a.json()).then(p => "
                "at.textContent = p.length + ' pallets').catch(() => at.textContent = "
                "'No data')</script>"
            )
    known = asked.path in ("/", "/projects", "/draft") or asked.path.startswith("/project/")
    return Answer(_SHELL) if known else None

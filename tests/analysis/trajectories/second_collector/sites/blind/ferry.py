"""A single-page app with a hash router: prefetch, polling, optimistic bookings, endless notices."""

import json

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json

HOST = "ferry.test"
BASE = f"https://{HOST}"

_LINES = {
    "north": {"name": "North line", "departs": "07:40", "pier": 4, "seats": 12},
    "south": {"name": "South line", "departs": "09:15", "pier": 2, "seats": 31},
    "isles": {"name": "Isles line", "departs": "11:05", "pier": 7, "seats": 5},
}
_NOTICES = [
    *("Pier 1 is closed.", "Bicycles travel free.", "Dogs on a lead.", "The kiosk opens at 6."),
    *("Lost: one red umbrella.", "Storm drill on Friday.", "Found: a flute.", "Ask for Mr Hale."),
]

_APP = """
const app = document.getElementById('app'), $ = i => document.getElementById(i), kept = {};
async function call(url, options) {
  const r = await fetch(url, options); if (!r.ok) throw new Error('HTTP ' + r.status);
  return r.json() }
function failed(text, again) {
  app.innerHTML = `<p role=alert>${text}</p><button id=retry>Retry</button>`;
  $('retry').onclick = again }
async function lines() {
  app.innerHTML = '<i>fetching</i>';
  try { const all = await call('/data/lines.json');
    app.innerHTML = '<h2>Lines</h2>' + all.map(l =>
      `<a id=${l.id} href=#/line/${l.id}>${l.name}</a>`).join(' ')
      + ' <a id=notices href=#/notices>Notices</a>';
    const early = all[1].id; setTimeout(() => call('/data/line/' + early, {priority: 'low'})
      .then(d => kept[early] = d).catch(() => {}), 200) }
  catch (e) { failed('Timetable unavailable: ' + e.message, lines) } }
async function line(id) {
  app.innerHTML = '<i>fetching</i>';
  try { const l = kept[id] || await call('/data/line/' + id);
    app.innerHTML = `<h2>${l.name}</h2><p>Departs ${l.departs} from pier ${l.pier}. Seats left: `
      + `<b id=left>${l.seats}</b></p><button id=book>Book a seat</button><p id=state></p>`;
    $('book').onclick = () => book(id) }
  catch (e) { failed('This line cannot be shown: ' + e.message, () => line(id)) } }
async function book(id) {
  const before = $('left').textContent; $('left').textContent = before - 1;
  $('state').textContent = 'Reserving your seat';
  try { const b = await call('/data/bookings', {method: 'POST', body: JSON.stringify({line: id}),
      headers: {'Content-Type': 'application/json'}});
    $('state').textContent = 'Seat booked, ticket ' + b.ticket }
  catch { $('left').textContent = before; $('state').textContent = 'Sorry, no seat was booked' } }
async function tickets() {
  try { const t = await call('/data/bookings'); app.innerHTML = `<h2>Tickets</h2><p>`
    + `You have ${t.length} ticket(s): ${t.map(b => b.line).join(', ')}</p>` }
  catch (e) { failed('Tickets cannot be shown: ' + e.message, tickets) } }
function notices() {
  app.innerHTML = '<h2>Notices</h2><ul id=list></ul><p id=end></p>'; let next = 0, busy = false;
  async function more() {
    if (busy || next === null) return; busy = true; $('end').textContent = 'more is coming';
    try { const d = await call('/data/notices?after=' + next);
      $('list').innerHTML += d.items.map(n => `<li>${n}<br style='line-height:220px'>`).join('');
      next = d.next; $('end').textContent = next === null ? 'No more notices' : '' }
    catch { $('end').innerHTML = 'Could not load more <button id=more>Load more</button>';
      $('more').onclick = more }
    busy = false }
  more(); onscroll = () => { if (innerHeight + scrollY > document.body.scrollHeight - 80) more() } }
function route() {
  onscroll = null; const [, where, id] = location.hash.split('/');
  ({line, tickets, notices}[where] || lines)(id) }
onhashchange = route; route();
async function tick() { try { $('clock').textContent = (await call('/data/clock')).now }
  catch { $('clock').textContent = '--:--' } }
tick(); setInterval(tick, 2500);
"""

_SHELL = (
    "<!doctype html><title>Ferries</title><link rel=icon href=data:,>"
    "<header><a id=lines href=#/>Lines</a> <a id=tickets href=#/tickets>Tickets</a>"
    " <span id=clock></span></header><main id=app>Please wait</main><script src=/ferry.js></script>"
)


def _data(asked: Asked, world: World) -> Answer | None:
    name = asked.path.rsplit("/", 1)[1]
    match asked.path.split("/")[2]:
        case "lines.json":
            return as_json([{"id": k, "name": v["name"]} for k, v in _LINES.items()])
        case "line" if name in _LINES:
            return as_json(_LINES[name])
        case "clock":
            return as_json({"now": "06:55"})
        case "notices":
            after = int(asked.query["after"])
            rest = after + 2
            items = _NOTICES[after:rest]
            return as_json({"items": items, "next": rest if rest < len(_NOTICES) else None})
        case "bookings" if asked.method == "POST":
            world.orders.append({"line": json.loads(asked.body)["line"]})
            return as_json({"ticket": f"F{100 + len(world.orders)}"}, 201)
        case "bookings":
            return as_json(world.orders)
    return None


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the ferries."""
    if asked.path.startswith("/data/"):
        return _data(asked, world)
    match asked.path:
        case "/":
            return Answer(_SHELL)
        case "/ferry.js":
            return Answer(_APP, "text/javascript", headers={"Cache-Control": "no-store"})
    return None

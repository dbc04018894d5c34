"""A clinic whose server sends fragments that a small script swaps in (as HTMX does), and frames."""

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, redirect

HOST = "clinic.test"
BASE = f"https://{HOST}"

_DOCTORS = {
    "amir": ("Dr Amir", "Room 12", "Tuesday 14:20"),
    "bonnet": ("Dr Bonnet", "Room 31", "Friday 08:10"),
    "costa": ("Dr Costa", "Room 7", "Monday 16:45"),
}

_SCRIPT = """
const toast = t => document.getElementById('toast').textContent = t;
async function swap(url, into, options) {
  toast(''); let r;
  try { r = await fetch(url, {headers: {'HX-Request': 'true'}, ...options}) }
  catch { toast('Network problem'); return false }
  if (!r.ok) { toast('The server answered ' + r.status); return false }
  document.getElementById(into).innerHTML = await r.text(); return true }
document.addEventListener('click', async e => {
  const a = e.target.closest('[data-get]'); if (!a) return; e.preventDefault();
  if (await swap(a.dataset.get, 'main') && a.dataset.push)
    history.pushState(0, '', a.dataset.push) });
document.addEventListener('submit', async e => {
  const f = e.target.closest('form[data-post]'); if (!f) return; e.preventDefault();
  await swap(f.dataset.post, 'main', {method: 'POST', body: new URLSearchParams(new FormData(f)),
    headers: {'HX-Request': 'true'}}) });
onpopstate = () => swap(location.pathname, 'main');
for (const e of document.querySelectorAll('[data-every]'))
  setInterval(() => fetch(e.dataset.every, {headers: {'HX-Request': 'true'}}).then(r => r.ok &&
    r.text().then(t => e.textContent = t)).catch(() => {}), 2000);
"""


def _main(asked: Asked, world: World) -> str | None:
    path = asked.path
    if path == "/":
        return "<h2>Welcome</h2><p>Choose a page.</p>"
    if path == "/doctors":
        return "<h2>Doctors</h2>" + " ".join(
            f"<a id={k} href=/doctors/{k} data-get=/doctors/{k} data-push=/doctors/{k}>{v[0]}</a>"
            for k, v in _DOCTORS.items()
        )
    if path == "/visits":
        return f"<h2>Visits</h2><p>Booked visits: {len(world.orders)}</p>"
    name = path.removeprefix("/doctors/")
    if name in _DOCTORS:
        title, room, _ = _DOCTORS[name]
        return (
            f"<h2>{title}</h2><p>{room}</p><iframe id=slots width=300 height=90 src=/slots/{name}>"
            f"</iframe><form data-post=/visits><input type=hidden name=doctor value={name}>"
            "<input id=reason name=reason placeholder=Reason><button id=ask>Ask for a visit"
            "</button></form>"
        )
    return None


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the clinic."""
    path = asked.path
    if path == "/clinic.js":
        return Answer(_SCRIPT, "text/javascript", headers={"Cache-Control": "no-store"})
    if path == "/waiting":
        return Answer("3 people are waiting")
    if path.startswith("/slots/") and path.removeprefix("/slots/") in _DOCTORS:
        slot = _DOCTORS[path.removeprefix("/slots/")][2]
        return Answer(f"<!doctype html><title>Slots</title><p>Next free slot: {slot}</p>")
    fragment = "hx-request" in asked.headers
    if path == "/visits" and asked.method == "POST":
        world.orders.append({"doctor": asked.form.get("doctor", "")})
        return (
            Answer("<h2>Thank you</h2><p>Your visit is booked.</p>") if fragment else redirect(path)
        )
    main = _main(asked, world)
    if main is None:
        return None
    if fragment:
        return Answer(main)
    return Answer(
        "<!doctype html><title>Clinic</title><link rel=icon href=data:,><nav><a id=home href=/>Home"
        "</a> <a id=doctors href=/doctors data-get=/doctors data-push=/doctors>Doctors</a>"
        " <a id=visits href=/visits data-get=/visits data-push=/visits>Visits</a>"
        " <small data-every=/waiting></small></nav><p id=toast></p>"
        f"<div id=main>{main}</div><script src=/clinic.js></script>"
    )

"""Mountain huts, by React and React Query: its own retries, a cache, a lazy chunk, rollback."""

import json

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json
from tests.analysis.trajectories.second_collector.sites.apps.libraries import (
    library,
    script,
    shell,
)

HOST = "huts.test"
BASE = f"https://{HOST}"

_HUTS = {
    "aro": ("Aro hut", 1840, 24, "Clear, 4 degrees"),
    "belv": ("Belvedere", 2310, 11, "Snow, -3 degrees"),
    "cima": ("Cima refuge", 2777, 6, "Storm, -9 degrees"),
}

_APP = """
const {createElement: h, useState, useEffect, Component} = React;
const {QueryClient, QueryClientProvider, useQuery, useMutation, useQueryClient} = ReactQuery;
const client = new QueryClient({defaultOptions: {queries: {retry: false, staleTime: 20000,
  networkMode: 'always', refetchOnWindowFocus: false, refetchOnReconnect: false}}});
const get = async u => { const r = await fetch(u, {headers: {Accept: 'application/json'}});
  if (!r.ok) throw new Error('Request failed (' + r.status + ')'); return r.json() };
const go = to => { history.pushState(null, '', to); dispatchEvent(new Event('popstate')) };
const A = p => h('a', {id: p.id, href: p.to,
  onClick: e => { e.preventDefault(); go(p.to) }}, p.children);
const Failed = p => h('div', {role: 'alert'}, h('p', null, p.what + ' could not be loaded. '
  + p.error.message), h('button', {id: p.id || 'again', onClick: () => p.again()}, 'Try again'));
function Huts() {
  const q = useQuery(['huts'], () => get('/api/huts'), {retry: 1, retryDelay: 500});
  if (q.isLoading) return h('p', null, 'Loading huts');
  if (q.isError) return h(Failed, {what: 'The huts', error: q.error, again: q.refetch});
  return h('ul', null, q.data.map(x => h('li', {key: x.id},
    h(A, {id: x.id, to: '/hut/' + x.id}, x.name)))) }
function Weather({id}) {
  const q = useQuery(['weather', id], () => get('/api/weather/' + id), {retry: 2, retryDelay: 300});
  if (q.isError) return h(Failed, {what: 'The weather', id: 'weather-again', error: q.error,
    again: q.refetch});
  return h('p', null, q.data ? 'Weather: ' + q.data.text : 'Weather pending') }
function Hut({id}) {
  const cache = useQueryClient(), q = useQuery(['hut', id], () => get('/api/huts/' + id));
  const [note, setNote] = useState('');
  const save = useMutation(async () => { const r = await fetch('/api/saved', {method: 'POST',
      body: JSON.stringify({hut: id}), headers: {'Content-Type': 'application/json'}});
      if (!r.ok) throw new Error('HTTP ' + r.status); return r.json() },
    {onMutate: () => setNote('Reserved (saving)'),
     onSuccess: d => { setNote('Reserved, code ' + d.code); cache.invalidateQueries(['saved']) },
     onError: e => setNote('The reservation was undone: ' + e.message)});
  if (q.isLoading) return h('p', null, 'Loading the hut');
  if (q.isError) return h(Failed, {what: 'This hut', error: q.error, again: q.refetch});
  return h('div', null, h('h2', null, q.data.name), h('p', null, 'Altitude ' + q.data.altitude
    + ' m, free beds: ' + q.data.beds), h(Weather, {id}),
    h('button', {id: 'reserve', onClick: () => save.mutate()}, 'Reserve a bed'),
    h('p', {id: 'note'}, note)) }
function Saved() {
  const q = useQuery(['saved'], () => get('/api/saved'));
  if (q.isError) return h(Failed, {what: 'Your reservations', error: q.error, again: q.refetch});
  return h('p', null, q.data ? 'Reservations: ' + q.data.length + ' '
    + q.data.map(x => x.code + ' ' + x.hut).join(', ') : 'Loading') }
class Boundary extends Component {
  state = {error: null};
  static getDerivedStateFromError(error) { return {error} }
  render() { return this.state.error ? h('div', {role: 'alert'}, h('p', null,
      'Something went wrong: ' + this.state.error.message),
      h('button', {id: 'reload', onClick: () => location.reload()}, 'Reload page'))
    : this.props.children } }
const Guide = React.lazy(() => new Promise((done, failed) => { const s = document
  .createElement('script'); s.src = '/chunks/guide.js'; s.onload = () => window.GuidePage
    ? done({default: window.GuidePage}) : failed(new Error('Loading chunk guide failed'));
  s.onerror = () => failed(new Error('Loading chunk guide failed')); document.head.append(s) }));
function App() {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => { const f = () => setPath(location.pathname); addEventListener('popstate', f);
    return () => removeEventListener('popstate', f) }, []);
  const hut = path.startsWith('/hut/') && path.slice(5);
  const page = hut ? h(Hut, {id: hut, key: hut}) : path === '/saved' ? h(Saved)
    : path === '/guide' ? h(React.Suspense, {fallback: h('p', null, 'Loading the guide')}, h(Guide))
    : h(Huts);
  return h('div', null, h('nav', null, h(A, {id: 'all', to: '/'}, 'All huts'), ' ',
    h(A, {id: 'saved', to: '/saved'}, 'Reservations'), ' ', h(A, {id: 'guide', to: '/guide'},
    'Guide')), h('h1', null, 'Huts'), h(Boundary, {key: path}, page)) }
ReactDOM.createRoot(document.getElementById('root')).render(
  h(QueryClientProvider, {client}, h(App)));
"""
_GUIDE = """
window.GuidePage = () => React.createElement('p', null,
  'The key hangs behind the blue door. Emergency radio: channel 7.');
"""


def _hut(name: str) -> dict[str, object]:
    title, altitude, beds, _ = _HUTS[name]
    return {"id": name, "name": title, "altitude": altitude, "beds": beds}


def _api(asked: Asked, world: World) -> Answer | None:
    name = asked.path.rsplit("/", 1)[1]
    if asked.path == "/api/huts":
        return as_json([_hut(n) for n in _HUTS])
    if asked.path == "/api/saved" and asked.method == "POST":
        world.orders.append({"hut": json.loads(asked.body)["hut"]})
        return as_json({"code": f"H-{40 + len(world.orders)}"}, 201)
    if asked.path == "/api/saved":
        return as_json([{"code": f"H-{41 + n}"} | one for n, one in enumerate(world.orders)])
    if name not in _HUTS:
        return None
    return as_json({"text": _HUTS[name][3]} if "/weather/" in asked.path else _hut(name))


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the huts."""
    if asked.path.startswith("/api/"):
        return _api(asked, world)
    match asked.path:
        case "/app.js":
            return script(_APP)
        case "/chunks/guide.js":
            return script(_GUIDE)
        case "/" | "/saved" | "/guide":
            return shell("Huts", ["react", "react-dom", "react-query"], "/app.js")
    if asked.path.startswith("/hut/"):
        return shell("Huts", ["react", "react-dom", "react-query"], "/app.js")
    return library(asked.path)

"""A grocer, by Vue, its router and axios: guards, search while typing, a basket kept by PUT."""

import json

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json
from tests.analysis.trajectories.second_collector.sites.apps.libraries import (
    library,
    script,
    shell,
)

HOST = "pantry.test"
BASE = f"https://{HOST}"

GOODS = {
    "oats": ("Rolled oats", "2.40", 31),
    "olives": ("Green olives", "4.15", 8),
    "orzo": ("Orzo", "1.95", 52),
    "honey": ("Heather honey", "7.80", 5),
    "lentils": ("Black lentils", "3.30", 19),
}

_APP = """
const {createApp, ref, reactive, onMounted, watch} = Vue, {createRouter, createWebHistory,
  useRouter} = VueRouter;
const http = axios.create({baseURL: '/rest', timeout: 4000});
http.interceptors.response.use(null, async e => { const c = e.config;
  if (c.method === 'get' && e.response?.status === 503 && !c.second) { c.second = true;
    await new Promise(f => setTimeout(f, 400)); return http(c) } throw e });
const toast = reactive({text: '', again: null});
const say = (text, again = null) => { toast.text = text; toast.again = again };
const why = e => e.response ? 'status ' + e.response.status : e.message;
const basket = reactive({lines: {}});
async function keep(id, n) { const before = basket.lines[id]; basket.lines[id] = n;
  try { await http.put('/basket', {lines: basket.lines}); say('Basket saved') }
  catch (e) { if (before === undefined) delete basket.lines[id]; else basket.lines[id] = before;
    say('The basket was not saved (' + why(e) + ')', () => keep(id, n)) } }
const Shop = {setup() { const q = ref(''), rows = ref([]), bad = ref(''); let t;
    const load = async () => { bad.value = '';
      try { rows.value = (await http.get('/goods', {params: {q: q.value}})).data }
      catch (e) { bad.value = 'Goods unavailable, ' + why(e) } };
    watch(q, () => { clearTimeout(t); t = setTimeout(load, 350) }); onMounted(load);
    return {q, rows, bad} },
  template: `<input id=q v-model=q placeholder="Search goods"><p v-if=bad role=alert>{{bad}}</p>
    <ul v-else><li v-for="g in rows"><router-link :id=g.id :to="'/goods/' + g.id">{{g.name}}
    </router-link> \\u20ac{{g.price}}</li></ul>`};
const one = reactive({it: null});
const Item = {setup() { return {one, keep} }, template: `<h2>{{one.it.name}}</h2>
  <p>Price \\u20ac{{one.it.price}}, stock {{one.it.stock}}</p>
  <button id=put @click="keep(one.it.id, 1)">Put into basket</button>`};
const Basket = {setup() { const state = ref('Loading'), code = ref(''), router = useRouter();
    const load = async () => { try { basket.lines = (await http.get('/basket')).data.lines;
        state.value = 'ready' } catch (e) { state.value = 'No basket: ' + why(e) } };
    const order = async () => { say('Placing your order');
      try { code.value = (await http.post('/orders', {lines: basket.lines})).data.code; say('');
        router.push('/done/' + code.value) }
      catch (e) { say('The order was not placed (' + why(e) + ')', order) } };
    onMounted(load); return {basket, state, order, load} },
  template: `<h2>Basket</h2><div v-if="state != 'ready'"><p role=alert>{{state}}</p>
    <button id=refresh @click=load>Refresh</button></div><div v-else>
    <p v-for="(n, id) in basket.lines">{{n}} x {{id}}</p><button id=order @click=order>
    Place order</button></div>`};
const Done = {props: ['code'], template: `<p>Thank you. Order {{code}} will be delivered.</p>`};
const Orders = {setup() { const n = ref('loading');
    onMounted(async () => { try { n.value = (await http.get('/orders')).data.length }
      catch (e) { n.value = 'unknown, ' + why(e) } }); return {n} },
  template: `<p>Orders placed: {{n}}</p>`};
const router = createRouter({history: createWebHistory(), routes: [{path: '/', component: Shop},
  {path: '/goods/:id', component: Item, beforeEnter: async to => {
    try { one.it = (await http.get('/goods/' + to.params.id)).data; say('') }
    catch (e) { say('Cannot open this product now, ' + why(e)); return one.it ? false : '/' } }},
  {path: '/basket', component: Basket}, {path: '/orders', component: Orders},
  {path: '/done/:code', component: Done, props: true}]});
createApp({setup: () => ({toast}), template: `<nav><router-link id=shop to=/>Shop</router-link>
  <router-link id=basket to=/basket>Basket</router-link> <router-link id=orders to=/orders>Orders
  </router-link></nav><p id=toast>{{toast.text}} <button v-if=toast.again id=repeat
  @click=toast.again>Repeat</button></p><router-view/>`}).use(router).mount('#root');
"""


def _good(name: str) -> dict[str, object]:
    title, price, stock = GOODS[name]
    return {"id": name, "name": title, "price": price, "stock": stock}


def _rest(asked: Asked, world: World) -> Answer | None:
    name = asked.path.rsplit("/", 1)[1]
    match asked.path, asked.method:
        case "/rest/goods", _:
            word = asked.query.get("q", "").lower()
            return as_json([_good(n) for n in GOODS if word in GOODS[n][0].lower()])
        case "/rest/basket", "PUT":
            world.draft = json.dumps(json.loads(asked.body)["lines"])
            return as_json({})
        case "/rest/basket", _:
            return as_json({"lines": json.loads(world.draft or "{}")})
        case "/rest/orders", "POST":
            world.orders.append({"lines": asked.body})
            return as_json({"code": f"P{900 + len(world.orders)}"}, 201)
        case "/rest/orders", _:
            return as_json(world.orders)
    return as_json(_good(name)) if name in GOODS else None


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the grocer."""
    if asked.path.startswith("/rest/"):
        return _rest(asked, world)
    if asked.path == "/main.js":
        return script(_APP)
    if asked.path.startswith("/lib/"):
        return library(asked.path)
    return shell("Pantry", ["vue", "vue-router", "axios"], "/main.js")

"""An auction house, by jQuery: partial pages, addresses that never repeat, a poll, bids."""

from tests.analysis.trajectories.second_collector.sites import Answer, Asked, World, as_json
from tests.analysis.trajectories.second_collector.sites.apps.libraries import (
    library,
    script,
    shell,
)

HOST = "auction.test"
BASE = f"https://{HOST}"

_LOTS = {
    "1": ("Brass sextant", 410),
    "2": ("Walnut desk", 1250),
    "3": ("Harbour in fog, oil", 2900),
    "4": ("Ship's clock", 780),
}
_APP = """
$(function () {
  const box = $('#box'), note = t => $('#note').text(t);
  function lots() {
    box.html('<p>Please wait</p>');
    $.ajax({url: '/lots.json', dataType: 'json', cache: false, timeout: 2500}).done(all => {
      box.html('<h2>Lots</h2>'); for (const l of all) $('<p>').append($('<a>',
        {href: '#lot-' + l.id, id: 'lot' + l.id, text: l.title})).appendTo(box) })
    .fail((x, why) => box.html('<p>The lots did not arrive (' + (x.status || why)
      + '). <a id=anew href=#>Fetch again</a></p>').find('#anew').on('click', e => {
        e.preventDefault(); lots() })) }
  let timer;
  function lot(id) {
    box.html('<p>Please wait</p>');
    box.load('/partial/lot?id=' + id, (text, state, x) => {
      if (state === 'error') { box.html('<p>Sorry but there was an error: ' + x.status + '</p>');
        return }
      timer = setInterval(() => $.getJSON('/price', {lot: id, _: Date.now()})
        .done(p => $('#price').text(p.price)), 1800) }) }
  function mine() {
    $.getJSON('/bids.json').done(b => box.html('<p>Your bids: ' + b.length + '</p>'))
      .fail(() => box.html('<p>Your bids cannot be shown.</p>')) }
  box.on('click', '#bid', function () {
    const button = $(this).prop('disabled', true), data = {lot: button.data('lot'),
      amount: $('#amount').val()};
    $.post('/bid', data).done(r => note('Bid accepted, receipt ' + r.receipt))
      .fail(x => note('Your bid failed with ' + x.status + '. Please bid again.'))
      .always(() => button.prop('disabled', false)) });
  function route() { clearInterval(timer); note('');
    const at = location.hash; at.startsWith('#lot-') ? lot(at.slice(5)) : at === '#mine' ? mine()
      : lots() }
  $(window).on('hashchange', route); route();
});
"""
_BODY = (
    "<nav><a id=lots href=#lots>Lots</a> <a id=mine href=#mine>My bids</a> <a id=terms"
    " href=/terms>Terms</a></nav><p id=note></p><div id=box></div>"
)


def page(asked: Asked, world: World) -> Answer | None:
    """Answer for the auction house."""
    number = asked.query.get("id", asked.query.get("lot", ""))
    match asked.path:
        case "/":
            return shell("Auction", ["jquery"], "/site.js", _BODY)
        case "/site.js":
            return script(_APP)
        case "/lots.json":
            return as_json([{"id": k, "title": v[0]} for k, v in _LOTS.items()])
        case "/partial/lot" if number in _LOTS:
            title, price = _LOTS[number]
            return Answer(
                f"<h2>{title}</h2><p>Current price: <b id=price>{price}</b> crowns.</p>"
                f"<input id=amount placeholder=Amount><button id=bid data-lot={number}>Bid</button>"
            )
        case "/price" if number in _LOTS:
            return as_json({"price": _LOTS[number][1]})
        case "/bid" if asked.method == "POST":
            world.orders.append(asked.form)
            return as_json({"receipt": f"B-{60 + len(world.orders)}"})
        case "/bids.json":
            return as_json(world.orders)
        case "/terms":
            return Answer(
                "<!doctype html><title>Terms</title><link rel=icon href=data:,><h1>Terms</h1>"
                "<p>The premium is 18 percent.<p><a id=back href=/>To the auction</a>"
            )
    return library(asked.path)

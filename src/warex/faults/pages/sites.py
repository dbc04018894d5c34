"""Error pages like those that sites design themselves, in the look of the site."""

import json
from dataclasses import replace
from typing import Final

from warex.faults.pages.incident import LETTERS, Incident, Page
from warex.faults.pages.site_page import site_page

_SHOP_STYLE: Final = """\
main{text-align:center}svg{margin:34px 0 0}small{opacity:.7}
"""
_SHOP: Final = """\
<svg width="150" height="120" viewBox="0 0 150 120" fill="none" stroke="$accent" stroke-width="6">
<path d="M8 14h20l18 58h68l18-44H34"/>
<circle cx="58" cy="98" r="9"/><circle cx="104" cy="98" r="9"/>
<path d="M62 40l28 20m0-20L62 60"/></svg>
<h1>$title</h1>
<p>$sentence</p>
<p><a href="/">$home</a></p>
<p><small>$label $status &ndash; $code</small></p>"""
_PORTAL_STYLE: Final = """\
section{max-width:44em;margin:3em auto;padding:1.6em 2.4em;border:1px solid #8886;\
border-top:5px solid $accent;border-radius:$corner}
dt{float:inline-start;clear:both;width:9em;opacity:.75}
"""
_PORTAL: Final = """\
<section>
<h1>$title</h1>
<p>$sentence</p>
<dl><dt>$label</dt><dd>$status $reason</dd><dt>$reference</dt><dd>INC$number</dd></dl>
<p>$closing</p>
</section>"""


def shop(incident: Incident) -> Page:
    """Return a shop's friendly page: a cart, an apology, a link back, a small code."""
    page = site_page(
        incident,
        incident.say("error_title"),
        _SHOP_STYLE,
        _SHOP,
        code=incident.reference("code", 8, LETTERS).upper(),
        sentence=incident.say(incident.by_side("error_client", "error_server")),
        home=incident.say("error_home"),
        label=incident.say("error_code"),
    )
    return replace(page, headers={"x-request-ref": incident.reference("ref", 20, LETTERS)})


def portal(incident: Incident) -> Page:
    """Return a company portal's formal page, with an incident number and a help desk."""
    return site_page(
        incident,
        incident.say("notice_title"),
        _PORTAL_STYLE,
        _PORTAL,
        number=incident.reference("number", 7, "0123456789"),
        sentence=incident.say(incident.by_side("notice_client", "notice_server")),
        label=incident.say("error_code"),
        reference=incident.say("reference"),
        closing=incident.say("notice_end"),
    )


def api(incident: Incident) -> Page:
    """Return a problem in JSON (RFC 9457) for programs."""
    problem = {
        "type": "about:blank",
        "title": incident.reason,
        "status": incident.status,
        "detail": incident.by_side(
            "The request was not accepted.", "The service could not complete the request."
        ),
        "instance": incident.path,
        "requestId": incident.reference("id", 24),
    }
    return Page("application/problem+json", (json.dumps(problem) + "\n").encode())

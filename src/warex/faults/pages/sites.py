"""Error pages like those that sites design themselves, in our own words and markup."""

import json

from warex.faults.pages.incident import LETTERS, Incident, Page


def shop(incident: Incident) -> Page:
    """Return a large shop's friendly page: a cart, an apology, a link back, a small code."""
    return incident.html(
        """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>$title</title><style>
body{font-family:"Amazon Ember",Arial,sans-serif;background:#fff;color:#0f1111;text-align:center}
header{background:$brand;color:#fff;text-align:left;padding:14px 24px;font-size:20px}
svg{margin:40px 0 0}a{color:#00688d}small{color:#777}</style></head><body>
<header>$host</header>
<svg width="150" height="120" viewBox="0 0 150 120" fill="none" stroke="$brand" stroke-width="6">
<path d="M8 14h20l18 58h68l18-44H34"/>
<circle cx="58" cy="98" r="9"/><circle cx="104" cy="98" r="9"/>
<path d="M62 40l28 20m0-20L62 60"/></svg>
<h1>$title</h1>
<p>$sentence</p>
<p><a href="/">Take me to the front page</a></p>
<p><small>Error $status &ndash; mention $code when you call us</small></p>
</body></html>
""",
        {"server": "Server", "x-request-ref": incident.reference("ref", 20, LETTERS)},
        brand=incident.pick("#232f3e", "#0a5c36", "#7a1f3d", "#1b4d89"),
        code=incident.reference("code", 8, LETTERS).upper(),
        title=incident.pick("Oh dear!", "Well, this is awkward", "Sorry about that"),
        sentence=incident.by_side(
            incident.pick(
                "We could not find our way with that link.",
                "That did not look quite right to us, so we stopped there.",
            ),
            incident.pick(
                "Our shelves have fallen over and we are busy putting them up again.",
                "It is not you, it is us. Our people have been told and are on to it.",
            ),
        ),
    )


def portal(incident: Incident) -> Page:
    """Return a company portal's formal page, with an incident number and a help desk."""
    return incident.html(
        """<!DOCTYPE html>
<html lang="en"><head><title>Service notice - $status</title>
<style>body{font:15px Georgia,serif;background:#e9eef3}section{background:#fff;width:44em;
margin:4em auto;padding:2em 3em;box-shadow:0 1px 6px #0003}dt{float:left;width:9em;color:#567}
</style></head><body><section>
<h1>Service notice</h1>
<p>$sentence</p>
<dl><dt>Service</dt><dd>$host</dd><dt>Result</dt><dd>$status $reason</dd>
<dt>Incident</dt><dd>INC$number</dd></dl>
<p>$closing</p>
</section></body></html>
""",
        {"x-ua-compatible": "IE=edge"},
        number=incident.reference("number", 7, "0123456789"),
        sentence=incident.by_side(
            "Your request was received, but it cannot be granted in its present form.",
            "The service you are trying to use is not available to you at this moment.",
        ),
        closing=incident.pick(
            "Please quote the incident number when you turn to the service desk.",
            "Work in progress may not have been saved. We apologise for the inconvenience.",
        ),
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

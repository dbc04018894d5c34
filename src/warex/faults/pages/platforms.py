"""Error pages worded as those of platforms that host applications."""

from typing import Final

from warex.faults.pages.incident import Incident, Page

_DIGITS: Final = "0123456789"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz23456789"


def vercel(incident: Incident) -> Page:
    """Return Vercel's page: the status, a code in capitals, an id with the region."""
    code = incident.by_side(
        "NOT_FOUND" if incident.status == 404 else incident.reason.upper().replace(" ", "_"),
        incident.pick("FUNCTION_INVOCATION_FAILED", "FUNCTION_INVOCATION_TIMEOUT"),
    )
    region = incident.pick("fra1", "iad1", "hnd1", "sfo1")
    time = f"17{incident.reference('at', 11, _DIGITS)}"
    identity = f"{region}::{incident.reference('id', 5, _LETTERS)}-{time}"
    identity = f"{identity}-{incident.reference('end', 12)}"
    return incident.html(
        """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>$status: $name</title><style>
html{font-size:62.5%}body{font:1.6rem/1.65 -apple-system,"Segoe UI",Roboto,sans-serif;margin:0;\
background:#fff;color:#000;height:100vh;display:flex;align-items:center;justify-content:center}
main{border:1px solid #eaeaea;border-radius:8px;padding:24px 28px;min-width:32rem}
h1{font-size:2rem;margin:0 0 1rem}code{font:1.4rem Menlo,Consolas,monospace;color:#444}
</style></head><body><main><h1>$status: $name</h1><p>$sentence</p>
<p><code>Code: $code</code><br><code>ID: $identity</code></p></main></body></html>
""",
        {"server": "Vercel", "x-vercel-error": code, "x-vercel-id": identity},
        name=incident.reason.upper().replace(" ", "_"),
        code=code,
        identity=identity,
        sentence=incident.by_side(
            "This page could not be served.", "This Serverless Function has crashed."
        ),
    )


def heroku(incident: Incident) -> Page:
    """Return Heroku's page about an application that did not answer."""
    return incident.html(
        """<!DOCTYPE html>
<html><head><meta name="viewport" content="width=device-width, initial-scale=1">
<meta charset="utf-8"><title>Application Error</title><style media="screen">
html,body{margin:0;height:100%;font-family:"Helvetica Neue",Arial,sans-serif;background:#fff;\
color:#39364c;display:flex;align-items:center;justify-content:center}
main{max-width:36em;text-align:center;padding:0 2em}h1{font-weight:300;color:#79589f}
code{background:#f4f1f8;padding:.2em .5em}</style></head><body><main>
<h1>Application error</h1>
<p>An error occurred in the application and your page could not be served. If you are the
application owner, check your logs for details. You can do this from the Heroku CLI with the
command</p><p><code>heroku logs --tail</code></p></main></body></html>
""",
        {
            "server": incident.pick("Cowboy", "Heroku"),
            "via": incident.pick("1.1 vegur", "2.0 heroku-router"),
        },
    )

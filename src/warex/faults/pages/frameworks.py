"""Error pages worded as those of web frameworks."""

from warex.faults.pages.incident import Incident, Page


def nextjs(incident: Incident) -> Page:
    """Return the status and a short phrase side by side in the middle of an empty page."""
    build = incident.reference("build", 21)
    return incident.html(
        """<!DOCTYPE html><html><head><title>$status: $phrase</title>
<style>html{height:100%}body{margin:0;min-height:100%;display:grid;place-items:center;
font-family:-apple-system,Roboto,"Segoe UI",sans-serif;color:#000;background:#fff}
#__next div{display:flex;align-items:center;height:49px}
h1{border-right:1px solid #0004;margin:0 20px 0 0;padding:10px 23px 10px 0;font-size:24px}
h2{font-size:14px;font-weight:400}</style></head>
<body><div id="__next"><div><h1>$status</h1><h2>$phrase.</h2></div></div>
<script id="__NEXT_DATA__" type="application/json">{"page":"/_error","buildId":"$build"}</script>
</body></html>
""",
        {"x-powered-by": "Next.js"},
        build=build,
        phrase=incident.by_side(
            "This page could not be found" if incident.status == 404 else incident.reason,
            incident.reason,
        ),
    )


def django(incident: Incident) -> Page:
    """Return the status in a bare heading, without style."""
    return incident.html(
        """<!doctype html>
<html lang="en">
<head>
  <title>$title</title>
</head>
<body>
  <h1>$title</h1><p>$sentence</p>
</body>
</html>
""",
        {
            "server": incident.pick("gunicorn", "WSGIServer/0.2 CPython/3.11.9", "uvicorn"),
            "x-frame-options": "DENY",
        },
        title=incident.by_side(incident.reason, f"Server Error ({incident.status})"),
        sentence=incident.by_side("The requested resource was not found on this server.", ""),
    )


def flask(incident: Incident) -> Page:
    """Return a heading and one apologetic paragraph."""
    return incident.html(
        """<!doctype html>
<html lang=en>
<title>$status $reason</title>
<h1>$reason</h1>
<p>$sentence</p>
""",
        {"server": incident.pick("Werkzeug/3.0.3 Python/3.12.4", "waitress", "gunicorn/22.0.0")},
        sentence=incident.by_side(
            "The requested URL was not found on the server. If you entered the URL manually please"
            " check your spelling and try again.",
            "The server encountered an internal error and was unable to complete your request."
            " Either the server is overloaded or there is an error in the application.",
        ),
    )


def rails(incident: Incident) -> Page:
    """Return an apology in a white card with a coloured edge, as static pages in public/ do."""
    return incident.html(
        """<!DOCTYPE html>
<html>
<head>
<title>$heading ($status)</title>
<meta name="viewport" content="width=device-width">
<style>
.card-wrap { background: #f4f4f4; font-family: arial, sans-serif; text-align: center; }
.card { background: #fff; border-top: 5px solid #b3261e; width: 34em; margin: 5em auto; }
.card p, .card h1 { padding: 0.7em 2em; font-size: 100%; color: #2f2f2f; margin: 0; }
.card h1 { font-size: 150%; color: #a32b22; }
</style>
</head>
<body class="card-wrap">
<div class="card"><h1>$heading.</h1><p>$sentence</p></div>
</body>
</html>
""",
        {"x-request-id": incident.reference("id", 32), "x-runtime": "0.0" + incident.pick(*"2579")},
        heading=incident.by_side(
            "The page you were looking for doesn't exist",
            "We're sorry, but something went wrong",
        ),
        sentence=incident.by_side(
            "You may have mistyped the address or the page may have moved.",
            "If you are the application owner check the logs for more information.",
        ),
    )


def spring(incident: Incident) -> Page:
    """Return the page for a missing error view, with kind and status in one sentence."""
    trace = incident.reference("trace", 8)
    return incident.html(
        """<html><head><title>Whitelabel Error Page</title></head>
<body><h1>Whitelabel Error Page</h1>
<p>This application has no explicit mapping for /error, so you are seeing this as a fallback.</p>
<div id="trace">[$trace] $path</div>
<div>There was an unexpected error (type=$reason, status=$status).</div>
<div>$note</div></body></html>
""",
        {"x-content-type-options": "nosniff"},
        trace=trace,
        note=incident.pick("No message available", ""),
    )


def laravel(incident: Incident) -> Page:
    """Return the status and the phrase, centred in grey, divided by a thin line."""
    return incident.html(
        """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>$reason</title><style>
body { margin: 0; background: $paper; color: #9aa1ad; font-family: Nunito, ui-sans-serif, Arial; }
.mid { min-height: 100vh; display: flex; align-items: center; justify-content: center; }
.mid span + span { border-left: 1px solid #b9bfc9; margin-left: 1rem; padding-left: 1rem; }
.mid span { font-size: 1.15rem; letter-spacing: .06em; text-transform: uppercase; }
</style></head><body>
<div class="mid"><span>$status</span><span>$reason</span></div>
</body></html>
""",
        {"x-powered-by": incident.pick("PHP/8.2.18", "PHP/8.3.6", "PHP/8.1.27")},
        paper=incident.pick("#f6f7f9", "#1a202c"),
    )


def express(incident: Incident) -> Page:
    """Return the page of a bare Node server: a preformatted line with a short stack."""
    line = incident.reference("line", 2, "123456789")
    return incident.html(
        """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Error</title></head><body>
<pre>$name: $reason ($status) for $path<br> &nbsp; at handle (/app/src/$file.js:$line:11)<br>
 &nbsp; at next (/app/src/router.js:$line:5)</pre>
</body></html>
""",
        {"x-powered-by": "Express", "content-security-policy": "default-src 'none'"},
        name=incident.pick("Error", "HttpError", "UnhandledError"),
        file=incident.pick("server", "routes", "pages", "session"),
        line=line,
    )


def plain(incident: Incident) -> Page:
    """Return plain text, as small servers in compiled languages do."""
    identity = incident.reference("id", 20)
    verb = incident.pick("handler failed", "handler gave up", "no result from handler")
    return incident.text(
        f"{incident.status} {incident.reason}\n{verb} for {incident.path} (req={identity})\n",
        {"x-content-type-options": "nosniff"},
    )

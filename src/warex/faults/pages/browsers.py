"""Pages worded as a browser's own connection error, in our own words and markup.

They name a browser's error code, not an HTTP status.
"""

from warex.faults.pages.incident import Incident, Page


def chromium(incident: Incident) -> Page:
    """Return a small grey page: a sad sheet, two sentences, a list, a code, a button."""
    return incident.html(
        """<!DOCTYPE html>
<html lang="en" dir="ltr"><head><meta charset="utf-8"><title>$host</title><style>
body{background:#fff;color:#5f6368;font:15px/1.6 "Segoe UI",Roboto,Arial,sans-serif}
#frame{max-width:600px;margin:14vh auto 0}h1{color:#202124;font-size:1.6em;font-weight:500}
.sheet{width:48px;height:58px;border:3px solid #5f6368;border-radius:3px;font:24px/58px monospace;
text-align:center}.code{font-size:.8em;margin-top:2em}
button{float:right;background:#1a73e8;color:#fff;border:0;border-radius:4px;padding:10px 22px}
</style></head><body><div id="frame"><div class="sheet" aria-hidden="true">:(</div>
<h1>$heading</h1>
<p><strong>$host</strong> $sentence</p>
<p>You could:</p>
<ul><li>look whether you are connected</li>
<li>look at your proxy, firewall and DNS settings</li></ul>
<div class="code">$code</div>
<button onclick="location.reload()">Reload</button></div></body></html>
""",
        heading=incident.pick("This page can\u2019t be reached", "This site is out of reach"),
        sentence=_by_story(
            incident, "needs too long to answer.", "let the connection drop without an answer."
        ),
        code=_by_story(
            incident,
            incident.pick("ERR_CONNECTION_TIMED_OUT", "ERR_TIMED_OUT"),
            incident.pick("ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED"),
        ),
    )


def firefox(incident: Incident) -> Page:
    """Return a page with a light headline, three bullet points and a blue button."""
    return incident.html(
        """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Page not loaded: connection problem</title><style>
html{background:#f9f9fb;color:#15141a;font:15px Inter,"Segoe UI",Arial,sans-serif}
body{margin:12vh 12vw;padding-left:90px;border-left:6px solid #ffbd4f}
h1{font-weight:300;font-size:2.2em}li{margin:.5em 0}
.try{background:#0061e0;color:#fff;border:0;border-radius:4px;padding:8px 28px;font-weight:600}
</style></head><body>
<h1>$heading</h1>
<p>$sentence</p>
<ul>
<li>Perhaps the site is busy or down for the moment. Wait a little, then ask again.</li>
<li>Do other sites load? If none do, see to this computer&rsquo;s network connection.</li>
<li>A firewall or proxy may be in the way; it has to let the browser out to the web.</li>
</ul>
<p><small>$code</small></p>
<button class="try" onclick="location.reload()">Try again</button>
</body></html>
""",
        heading=_by_story(
            incident, "Hm. That connection took too long", "The connection was lost on the way"
        ),
        sentence=_by_story(
            incident,
            f"No answer came from {incident.host} before the time was up.",
            f"While the page was loading, {incident.host} stopped talking to us.",
        ),
        code=_by_story(
            incident,
            "NS_ERROR_NET_TIMEOUT",
            incident.pick("NS_ERROR_NET_RESET", "NS_ERROR_NET_INTERRUPT"),
        ),
    )


def safari(incident: Incident) -> Page:
    """Return a grey headline and one sentence in the middle of the page."""
    return incident.html(
        """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Page did not open</title>
<style>body{background:#f5f5f7;color:#6e6e73;text-align:center;padding-top:28vh;
font:14px -apple-system,"Helvetica Neue",sans-serif}h1{font-size:26px;font-weight:600}
p{width:27em;margin:1em auto;line-height:1.5}</style></head>
<body><h1>$heading</h1>
<p>The page &ldquo;$host$path&rdquo; does not open, because $because. ($code)</p></body></html>
""",
        heading=incident.pick("The page does not open", "No connection to the server"),
        because=_by_story(
            incident,
            "the server where it lives is not responding",
            "the network connection was lost",
        ),
        code="NSURLErrorDomain " + _by_story(incident, "\u22121001", "\u22121005"),
    )


def webview(incident: Incident) -> Page:
    """Return the short page that apps with an embedded browser show without a network."""
    return incident.html(
        """<!DOCTYPE html><html><head><title>Web page unavailable</title></head>
<body style="font-family:sans-serif;margin:2em"><h2>Web page unavailable</h2>
<p>Loading <i>$host$path</i> was not possible:</p><p><b>net::$code</b></p>
<p>$advice</p></body></html>
""",
        code=incident.pick("ERR_ADDRESS_UNREACHABLE", "ERR_CONNECTION_CLOSED", "ERR_TIMED_OUT"),
        advice=incident.pick("Check your signal and pull down to load again.", ""),
    )


def internet_gateway(incident: Incident) -> Page:
    """Return the page of a home router or provider for a page that it could not fetch."""
    return incident.html(
        """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>$title</title><style>
body{margin:0;font:16px Verdana,sans-serif;background:linear-gradient(#dfe9f5,#fff) no-repeat}
.bar{background:#1f3b63;color:#fff;padding:12px 30px}.in{padding:20px 30px;max-width:46em}
.lamp{display:inline-block;width:12px;height:12px;border-radius:6px;background:#d33}</style></head>
<body><div class="bar">$title</div><div class="in">
<h2><span class="lamp"></span> Connection problem</h2>
<p>$sentence</p>
<p>Asked for: $host<br>Line state: $line<br>Event: $event</p>
<p>$advice</p></div></body></html>
""",
        title=incident.pick("Internet gateway", "Home hub", "Network access page"),
        sentence=incident.pick(
            "The gateway waited for the web server, but the answer did not come in time.",
            "Your gateway is running; the way from here to the server is interrupted.",
        ),
        line=incident.pick("unstable", "reconnecting", "up, no reply from far end"),
        event="GW-TIMEOUT-" + incident.reference("event", 4, "0123456789"),
        advice=incident.pick(
            "As a rule this passes by itself. Load the page again after a short while.",
            "If it lasts, pull the gateway's plug for ten seconds and put it back in.",
        ),
    )


def _by_story(incident: Incident, slow: str, lost: str) -> str:
    """Return the text for a timeout or for a lost connection, one of them per host."""
    return {"slow": slow, "lost": lost}[incident.pick("slow", "lost")]

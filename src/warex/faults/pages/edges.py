"""Error pages like those of CDNs, caches and load balancers, in our own words and markup."""

from warex.faults.pages.incident import LETTERS, Incident, Page


def edge_network(incident: Incident) -> Page:
    """Return a drawing of browser, edge and host with the failed part, and a reference."""
    reference = incident.reference("ray", 16)
    city = incident.pick("Frankfurt", "Ashburn", "Singapore", "Madrid", "Chicago", "Tokyo")
    return incident.html(
        """<!DOCTYPE html>
<html lang="en-US"><head><title>$host | $status: $reason</title><style>
body{font:16px/1.5 system-ui,sans-serif;color:#404040;margin:0}
main{max-width:60rem;margin:3rem auto;padding:0 1rem}
h1{font-weight:300;font-size:3.4rem;margin:0}
h1 small{font-size:1.1rem;background:#eee;padding:.2rem}
ol{display:flex;list-style:none;padding:2rem 0;margin:2rem 0;background:#f3f3f3}
li{flex:1;text-align:center}b{display:block;font-size:2rem}.ok{color:#3a9a3a}.bad{color:#c0392b}
footer{border-top:1px solid #ddd;padding:1rem 0;font-size:.8rem}</style></head><body><main>
<h1>$reason <small>Code $status</small></h1>
<ol>
<li><b class="ok">&#10003;</b>You<br><span class="ok">Online</span></li>
<li><b class="$edge_class">$edge_mark</b>$city edge<br><span class="$edge_class">$edge</span></li>
<li><b class="$host_class">$host_mark</b>$host<br><span class="$host_class">$origin</span></li>
</ol>
<h2>Why am I seeing this?</h2><p>$why</p>
<h2>And now?</h2><p>$advice</p>
<footer>Trace reference <strong>$reference</strong> &bull; Delivered by the edge in $city</footer>
</main></body></html>
""",
        {"server": "cloudflare", "cf-ray": f"{reference}-{city[:3].upper()}"},
        reference=reference,
        city=city,
        edge=incident.by_side("Refused", "Online"),
        edge_class=incident.by_side("bad", "ok"),
        edge_mark=incident.by_side("\u2717", "\u2713"),
        origin=incident.by_side("Not asked", "Error"),
        host_class=incident.by_side("", "bad"),
        host_mark=incident.by_side("\u2013", "\u2717"),
        why=incident.by_side(
            "The owner of this site has rules for what may reach it, and this visit met one.",
            "Our edge is up, but the machine behind it that holds this site did not answer well.",
        ),
        advice=incident.pick(
            "Visitors can come back in a few minutes; owners find the details under the trace.",
            "Give it some minutes before another try. Is it yours? Then look into the host's logs.",
        ),
    )


def edge_distribution(incident: Incident) -> Page:
    """Return a bare page of a content distribution, with a long request id."""
    identity = incident.reference("id", 52, LETTERS) + "=="
    return incident.html(
        """<HTML><HEAD><TITLE>ERROR $status - request not satisfied</TITLE></HEAD>
<BODY>
<H1>$status ERROR</H1>
<H2>We were not able to satisfy this request.</H2>
<HR noshade size="1px">
$reason. $sentence<BR clear="all">
<HR noshade size="1px">
<PRE>
Made by the content distribution ($place)
Request: $identity
</PRE>
</BODY></HTML>
""",
        {"server": "CloudFront", "x-cache": "Error from cloudfront", "x-amz-cf-id": identity},
        identity=identity,
        place=incident.pick("FRA60-P4", "IAD89-C1", "NRT57-P2", "LHR50-C3"),
        sentence=incident.by_side(
            "The distribution is not set up to take a request of this form.",
            incident.pick(
                "No connection to the origin of this app or site could be used just now.",
                "The origin closed on us, or there is more traffic than it was set up to carry.",
            ),
        ),
    )


def edge_cache(incident: Incident) -> Page:
    """Return a cache server's page: a heading, a reason, a number."""
    number = str(10**8 + int(incident.rng.draw("page", incident.host, incident.path, "xid") * 9e8))
    return incident.html(
        """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html>
  <head><title>$status: $reason (cache)</title></head>
  <body>
    <h1>Error $status: $reason</h1>
    <p>$sentence</p>
    <h3>Meditate on this:</h3>
    <p>XID: $number, via $node</p>
    <hr>
    <p>$name</p>
  </body>
</html>
""",
        {"server": "Varnish", "via": "1.1 varnish", "x-varnish": number},
        number=number,
        node=f"cache-{incident.pick('fra', 'bwi', 'hnd', 'ams')}{incident.reference('node', 5)}",
        name=incident.pick("Varnish cache", "Cache server", "Varnish"),
        sentence=incident.by_side(
            "The cache was told to turn such requests away.",
            incident.pick("Fetching from the backend came to nothing.", "All backends are sick."),
        ),
    )


def edge_shield(incident: Incident) -> Page:
    """Return a terse heading, one sentence about the URL and a dotted reference number."""
    reference = f"{incident.reference('a', 2)}.{incident.reference('b', 8)}.1"
    number = f"{reference}.{incident.reference('c', 10)}.{incident.reference('d', 7)}"
    return incident.html(
        """<HTML><HEAD><TITLE>$reason</TITLE></HEAD><BODY>
<H1>$heading</H1>
While working on your request for "http&#58;&#47;&#47;$host$path" we met: $reason ($status).<P>
Reference&#32;&#35;$number
</BODY></HTML>
""",
        {"server": "AkamaiGHost", "mime-version": "1.0"},
        number=number,
        heading=incident.by_side("Not permitted", "Unable to process"),
    )


def load_balancer(incident: Incident) -> Page:
    """Return the status and one line, as cloud load balancers do."""
    return incident.html(
        """<html><head>
<meta http-equiv="content-type" content="text/html;charset=utf-8"><title>$status $reason</title>
</head><body text=#000000 bgcolor=#ffffff>
<h1>Error: $reason</h1>
<h2>$sentence</h2>
<p>HTTP $status</p>
</body></html>
""",
        {"server": incident.pick("awselb/2.0", "Google Frontend", "Microsoft-Azure-Gateway/v2")},
        sentence=incident.by_side(
            incident.pick(
                "The load balancer will not pass on a request like this one.",
                "Your client sent something the front end could not accept.",
            ),
            incident.pick(
                "A backend met a temporary problem. Please try once more later.",
                "None of the targets behind this address could complete the request.",
            ),
        ),
    )


def service_mesh(incident: Incident) -> Page:
    """Return one line of plain text about the upstream, as sidecar proxies do."""
    flag = incident.pick("connection termination", "overflow", "remote reset", "local timeout")
    identity = incident.reference("id", 32)
    return incident.text(
        f"upstream gave no usable answer ({incident.status} {incident.reason}); "
        f"cause: {flag}; request {identity}\n",
        {"server": "envoy", "x-request-id": identity},
    )

"""Error pages worded as those of web servers and load balancers that run beside a site."""

from collections.abc import Mapping
from typing import Final

from warex.faults.pages.incident import Incident, Page

_NGINX_REASONS: Final[Mapping[int, str]] = {
    408: "Request Time-out",
    413: "Request Entity Too Large",
    414: "Request-URI Too Large",
    416: "Requested Range Not Satisfiable",
    503: "Service Temporarily Unavailable",
    504: "Gateway Time-out",
}
"""Where nginx and AWS's load balancers differ from the registered phrases."""
_APACHE_SENTENCES: Final[Mapping[int, str]] = {
    400: "Your browser sent a request that this server could not understand.",
    401: "This server could not verify that you are authorized to access the document requested.",
    403: "You don't have permission to access this resource.",
    404: "The requested URL was not found on this server.",
    405: "The requested method is not allowed for this URL.",
    408: "Server timeout waiting for the HTTP request from the client.",
    429: "The user has sent too many requests in a given amount of time.",
    502: "The proxy server received an invalid response from an upstream server.",
    503: (
        "The server is temporarily unable to service your request due to maintenance downtime"
        " or capacity problems. Please try again later."
    ),
    504: "The gateway did not receive a timely response from the upstream server or application.",
}
_HAPROXY_SENTENCES: Final[Mapping[int, str]] = {
    400: "Your browser sent an invalid request.",
    403: "Request forbidden by administrative rules.",
    404: "The resource could not be found.",
    408: "Your browser didn't send a complete request in time.",
    429: "You have sent too many requests in a given amount of time.",
    500: "An internal server error occurred.",
    502: "The server returned an invalid or incomplete response.",
    503: "No server is available to handle this request.",
    504: "The server didn't respond in time.",
}


def nginx(incident: Incident) -> Page:
    """Return the status in large letters, centred, over a rule and the server's name."""
    version = incident.pick("nginx", "nginx/1.18.0 (Ubuntu)", "nginx/1.24.0", "nginx/1.27.2")
    return incident.html(
        """<html>
<head><title>$status $phrase</title></head>
<body>
<center><h1>$status $phrase</h1></center>
<hr><center>$version</center>
</body>
</html>
""",
        {"server": version},
        version=version,
        phrase=_NGINX_REASONS.get(incident.status, incident.reason),
    )


def apache(incident: Incident) -> Page:
    """Return the reason and a sentence, signed in italics with the server, host and port."""
    version = incident.pick("Apache", "Apache/2.4.58 (Ubuntu)", "Apache/2.4.62 (Debian)")
    name, _, port = incident.host.partition(":")
    internal = (
        "The server encountered an internal error or misconfiguration and was unable to complete"
        " your request."
    )
    return incident.html(
        """<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">
<html><head>
<title>$status $phrase</title>
</head><body>
<h1>$phrase</h1>
<p>$sentence<br />
</p>
<hr>
<address>$version Server at $name Port $port</address>
</body></html>
""",
        {"server": version},
        version=version,
        name=name,
        port=port or "443",
        phrase="Proxy Error" if incident.status == 502 else incident.reason,
        sentence=_APACHE_SENTENCES.get(incident.status, internal),
    )


def iis(incident: Incident) -> Page:
    """Return a grey page with a dark banner, and a summary in a box."""
    banner = incident.pick("Server Error", "Server Error in Application")
    return incident.html(
        """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">
<html xmlns="http://www.w3.org/1999/xhtml">
<head><title>$status - $phrase</title>
<style type="text/css">
body{margin:0;font-size:.7em;font-family:Verdana,Arial,Helvetica,sans-serif;background:#EEEEEE}
fieldset{padding:0 15px 10px 15px}h1{font-size:2.4em;margin:0;color:#FFF}
h2{font-size:1.7em;margin:0;color:#CC0000}h3{font-size:1.2em;margin:10px 0 0 0;color:#000}
#header{padding:6px 2% 6px 2%;color:#FFF;background-color:#555555}
#content{margin:0 0 0 2%}.box{background:#FFF;width:96%;margin-top:8px;padding:10px}
</style></head>
<body><div id="header"><h1>$banner</h1></div>
<div id="content"><div class="box"><fieldset>
<h2>$status - $phrase</h2>
<h3>$sentence</h3>
</fieldset></div></div></body></html>
""",
        {"server": "Microsoft-IIS/10.0", "x-powered-by": "ASP.NET"},
        banner=banner,
        phrase={
            403: "Forbidden: Access is denied.",
            404: "File or directory not found.",
            500: "Internal server error.",
            502: "Web server received an invalid response while acting as a gateway or proxy"
            " server.",
        }.get(incident.status, incident.reason),
        sentence=incident.by_side(
            "The resource you are looking for might have been removed, had its name changed, or"
            " is temporarily unavailable.",
            "There is a problem with the resource you are looking for, and it cannot be displayed.",
        ),
    )


def haproxy(incident: Incident) -> Page:
    """Return the status and one sentence, without any style or title."""
    sentence = _HAPROXY_SENTENCES.get(incident.status) or incident.by_side(
        "The request could not be served as it was sent.",
        "The server could not complete this request.",
    )
    cache_control = incident.pick("no-cache", "no-store, no-cache")
    return incident.html(
        """<html><body><h1>$status $reason</h1>
$sentence
</body></html>
""",
        {"pragma": cache_control},
        sentence=sentence,
    )


def tomcat(incident: Incident) -> Page:
    """Return a page with blue bars and a labelled type, message and description."""
    version = incident.pick("9.0.83", "10.1.19", "8.5.98")
    return incident.html(
        """<!doctype html><html lang="en"><head>
<title>HTTP Status $status \u2013 $reason</title><style type="text/css">
body {font-family:Tahoma,Arial,sans-serif;} h1, h2, h3, b {color:white;background-color:#525D76;}
h1 {font-size:22px;} h2 {font-size:16px;} h3 {font-size:14px;} p {font-size:12px;}
a {color:black;} .line {height:1px;background-color:#525D76;border:none;}</style></head><body>
<h1>HTTP Status $status \u2013 $reason</h1><hr class="line" />
<p><b>Type</b> $type</p><p><b>Message</b> $message</p>
<p><b>Description</b> $description</p>
<hr class="line" /><h3>Apache Tomcat/$version</h3></body></html>
""",
        {},
        version=version,
        type=incident.by_side("Status Report", "Exception Report"),
        message=incident.by_side(
            f"The requested resource [{incident.path}] is not available",
            "Servlet.service() for servlet [dispatcherServlet] threw exception",
        ),
        description=incident.by_side(
            "The origin server did not find a current representation for the target resource or"
            " is not willing to disclose that one exists.",
            "The server encountered an unexpected condition that prevented it from fulfilling"
            " the request.",
        ),
    )

"""Error pages like those of web servers, in our own words and markup."""

from warex.faults.pages.incident import Incident, Page


def nginx(incident: Incident) -> Page:
    """Return the status in large letters, centred, over a rule and the server's name."""
    version = incident.pick("nginx", "nginx/1.18.0 (Ubuntu)", "nginx/1.24.0", "nginx/1.27.2")
    return incident.html(
        """<!DOCTYPE html>
<html><head><title>$status $reason</title></head>
<body style="text-align:center">
<h1>$status $reason</h1>
<hr><p>$version</p>
</body></html>
""",
        {"server": version},
        version=version,
    )


def apache(incident: Incident) -> Page:
    """Return the status and the path in two sentences, signed in italics."""
    version = incident.pick("Apache", "Apache/2.4.58 (Ubuntu)", "Apache/2.4.62 (Debian)")
    return incident.html(
        """<!DOCTYPE html>
<html lang="en">
<head><title>$status $reason</title></head>
<body>
<h1>$reason</h1>
<p>$sentence</p>
<p>Status $status was recorded for <code>$path</code>.</p>
<hr>
<address>$version, serving $host</address>
</body>
</html>
""",
        {"server": version},
        version=version,
        sentence=incident.by_side(
            "This server understood your request but will not carry it out as it stands.",
            incident.pick(
                "This server ran into trouble of its own and had to give up on your request.",
                "Something is wrong in this server's set-up; whoever runs it will find it logged.",
            ),
        ),
    )


def iis(incident: Incident) -> Page:
    """Return a grey page with a banner, a boxed summary and technical details."""
    return incident.html(
        """<!DOCTYPE html><html><head><title>HTTP $status - $reason</title><style>
body{margin:0;background:#ececec;font:0.8em Verdana,Tahoma,sans-serif;color:#111}
#top{background:#4a5568;color:#fff;padding:8px 2%;font-size:1.7em}
#box{background:#fff;border:1px solid #bbb;margin:14px 2%;padding:10px 16px}
h2{color:#b00;font-size:1.25em;margin:0 0 6px} td{padding:2px 14px 2px 0}
</style></head><body><div id="top">Error in application</div>
<div id="box"><h2>HTTP $status: $reason</h2><p>$sentence</p></div>
<div id="box"><table>
<tr><td>Module</td><td>$module</td></tr>
<tr><td>Stage</td><td>$stage</td></tr>
<tr><td>Address asked for</td><td>$host$path</td></tr>
<tr><td>Code</td><td>0x8007$code</td></tr>
</table></div></body></html>
""",
        {"server": "Microsoft-IIS/10.0", "x-powered-by": "ASP.NET"},
        module=incident.pick("StaticFile", "ManagedPipeline", "RequestRouting", "AspCore"),
        stage=incident.pick("BeginRequest", "MapHandler", "ExecuteHandler"),
        code=incident.reference("code", 4),
        sentence=incident.by_side(
            "What you looked for is not to be had in the way it was asked for.",
            "No page can be shown, because the web application stopped before it was finished.",
        ),
    )


def tomcat(incident: Incident) -> Page:
    """Return a page with a blue bar and labelled kind, message and description."""
    version = incident.pick("9.0.83", "10.1.19", "8.5.98")
    return incident.html(
        """<!doctype html><html lang="en"><head>
<title>Status $status: $reason</title>
<style>body{font-family:Tahoma,Arial,sans-serif}h1,h3{background:#51679b;color:#fff;padding:4px}
hr{border:0;height:2px;background:#51679b}</style></head><body>
<h1>Status $status: $reason</h1><hr>
<p><b>Kind</b> $kind</p>
<p><b>Message</b> $message</p>
<p><b>Meaning</b> $meaning</p>
<hr><h3>Tomcat servlet container $version</h3></body></html>
""",
        {"server": "Apache-Coyote/1.1"},
        version=version,
        kind=incident.by_side("Status report", "Exception report"),
        message=incident.pick(
            f"Servlet [dispatcher] left early on [{incident.path}]",
            f"No result for path [{incident.path}] of context []",
        ),
        meaning=incident.by_side(
            "The request is at fault in the eyes of the container, which did not run it.",
            "A condition nobody had planned for kept the container from answering.",
        ),
    )

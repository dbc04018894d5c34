"""Redacts headers: those are kept whose values are known to be harmless.

The names are those of IANA's registry of HTTP fields and of usual proxies, CDNs, browsers and
clients of models, without those that carry credentials. Of any other header the name, the length of
its value and a keyed hash are kept, so that equal values stay equal.
"""

import re

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.names import (
    Secrecy,
    looks_random,
    looks_secret,
    name_secrecy,
    words_of,
)
from warex.traces.redaction.text import PLAIN, Pass, redact_bytes
from warex.traces.redaction.token_patterns import REDACTED

SECRET_HEADERS = frozenset(
    {"api-key", "authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}
    | {"x-goog-api-key"}
)
"""Headers whose value is always secret; for others the name decides."""

_KNOWN = words_of(
    """
    a-im accept accept-additions accept-ch accept-charset accept-datetime accept-encoding
    accept-features accept-language accept-patch accept-post accept-ranges accept-signature
    age allow alpn alt-svc apigw-requestid alt-used alternates apply-to-redirect-ref
    authentication-control authentication-info baggage cache-control cache-status cache-tag
    cdn-cache-control cdn-loop clear-site-data close closest-to-date connection
    content-digest content-disposition content-encoding content-language content-length
    content-location content-md5 content-range content-security-policy
    content-security-policy-report-only content-type critical-ch
    cross-origin-embedder-policy cross-origin-embedder-policy-report-only
    cross-origin-opener-policy cross-origin-opener-policy-report-only
    cross-origin-resource-policy date dav delta-base deprecation depth device-memory digest
    dnt downlink early-data ect etag expect expect-ct expires feature-policy forwarded from
    hobareg host http2-settings if if-match if-modified-since if-none-match if-range
    if-unmodified-since im keep-alive label last-event-id last-modified link location
    lock-token max-forwards memento-datetime meter mime-version nel observe-browsing-topics
    odata-entityid odata-isolation odata-maxversion odata-version openai-model
    openai-organization openai-processing-ms openai-project openai-version openai-beta
    anthropic-version anthropic-beta anthropic-organization-id ordering-type origin
    origin-agent-cluster overwrite p3p permissions-policy permissions-policy-report-only
    pragma prefer preference-applied priority proxy-authenticate proxy-authentication-info
    proxy-connection proxy-status public-key-pins purpose range ratelimit ratelimit-limit
    ratelimit-policy ratelimit-remaining ratelimit-reset referer referer-policy
    referrer-policy refresh repeatability-result report-to reporting-endpoints repr-digest
    request-id retry-after rtt safe save-data sentry-trace schedule-reply schedule-tag
    server server-timing service-worker service-worker-allowed
    service-worker-navigation-preload slug sourcemap status status-uri
    strict-transport-security sunset supports-loading-mode surrogate-capability
    surrogate-control tcn te timeout timing-allow-origin tk topic traceparent tracestate
    trailer transfer-encoding ttl upgrade upgrade-insecure-requests urgency user-agent
    variant-vary vary via viewport-width want-content-digest want-digest want-repr-digest
    warning width www-authenticate x-amz-apigw-id x-amz-bucket-region x-amz-cf-id
    x-amz-cf-pop x-amz-id-2 x-amz-request-id x-amz-version-id x-amzn-requestid
    x-amzn-trace-id x-aspnet-version x-aspnetmvc-version x-api-version x-app-version
    x-build-id x-b3-parentspanid x-b3-sampled x-b3-spanid x-b3-traceid x-backend x-cache
    x-cache-hits x-cache-key x-cache-lookup x-cache-status x-client-version x-client-data
    x-clacks-overhead x-cloud-trace-context x-content-duration x-content-type-options
    x-correlation-id x-datadog-parent-id x-datadog-sampling-priority x-datadog-trace-id
    x-dns-prefetch-control x-download-options x-drupal-cache x-edge-location
    x-envoy-upstream-service-time x-fastly-request-id x-file-name x-file-size
    x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-prefix x-forwarded-proto
    x-forwarded-scheme x-forwarded-server x-frame-options x-generator x-github-api-version
    x-github-media-type x-github-request-id x-goog-api-client x-goog-generation x-goog-hash
    x-goog-metageneration x-goog-storage-class x-http-method x-http-method-override
    x-kong-proxy-latency x-kong-upstream-latency x-litespeed-cache x-matched-path
    x-method-override x-middleware-prefetch x-middleware-rewrite x-mod-pagespeed
    x-nextjs-cache x-nextjs-data x-nextjs-prerender x-nextjs-stale-time x-nginx-cache
    x-original-host x-original-method x-original-uri x-original-url x-pagespeed
    x-permitted-cross-domain-policies x-pingback x-pjax x-pjax-container x-pjax-url
    x-powered-by x-prototype-version x-proxy-cache x-purpose x-moz x-rack-cache x-readtime
    x-real-ip x-redirect-by x-region x-request-id x-request-start x-requested-with
    x-response-time x-robots-tag x-runtime x-served-by x-server x-shard x-shopify-stage
    x-sourcemap x-timer x-timestamp x-total-count x-trace-id x-transaction-id
    x-turbo-request-id x-ua-compatible x-user-agent x-varnish x-vercel-cache x-vercel-id
    x-version x-wp-total x-wp-totalpages x-xss-protection cf-cache-status cf-connecting-ip
    cf-ipcountry cf-ray cf-request-id cf-visitor cf-mitigated cf-edge-cache cf-bgj
    cf-polished fastly-debug-digest fly-request-id gitlab-lb gitlab-sv hx-boosted
    hx-current-url hx-history-restore-request hx-prompt hx-request hx-target hx-trigger
    hx-trigger-name hx-location hx-push-url hx-redirect hx-refresh hx-replace-url hx-reswap
    hx-retarget next-action next-router-prefetch next-router-segment-prefetch
    next-router-state-tree next-url rsc turbo-frame llm-provider mcp-protocol-version
    mcp-session-id idempotency-key true-client-ip server-instance x-forwarded-client-ip
    x-amzn-remapped-date x-amzn-remapped-content-length
    """
)
_KNOWN_KINDS = lazy_re(
    r"(?:sec-|access-control-|x-ratelimit-|x-rate-limit-|ratelimit-|x-stainless-|x-warex-|x-amz-meta-"
    r"|x-envoy-|anthropic-ratelimit-|x-playwright-|x-kubernetes-pf-|x-datadog-)[a-z0-9-]*\Z"
)
"""Families of headers that are harmless."""

_HEX = lazy_re(
    r"(?:W/)?\"?[0-9a-f-]*\"?|[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT"
)
"""A hash, a UUID, a number or a date: it has no secret's shape."""
_SPLIT = lazy_re(r"[\s,;=\"']+")
_IDENTIFIES = lazy_re(
    r"""(?ix) (?:^|[-_.])
    (?: accept.* | ch-ua.* | content-security-policy.* | digest | etag | match
      | [a-z]*id(?:-\d)? | hash | checksum | md5 | sha\d* | nel | report-to
      | reporting-endpoints | user-agent | ray
      | trace | traceparent | tracestate | sentry-trace | debug | alt-svc | via | server-timing
      | websocket-key | websocket-accept | websocket-extensions | served-by | cache | last-modified
      | content-disposition | content-type | host | origin | version | revision | build | commit ) $
    """
)
"""Headers with ids and hashes that are not secret."""


def is_known_header(name: str) -> bool:
    """Whether the values of a header, by its name in lower case, are recorded."""
    return name in _KNOWN or _KNOWN_KINDS.match(name) is not None


def redact_header(name: str, value: str, how: Pass = PLAIN) -> tuple[str, str]:
    """Return a header with its value replaced unless it is known to be harmless."""
    lower = name.lower()
    if lower in SECRET_HEADERS:
        return name, REDACTED
    if lower == "sec-websocket-protocol":
        return name, _protocols(value, how)
    secrecy = Secrecy.NOTHING if lower in _NOT_SECRET else name_secrecy(name)
    if secrecy is Secrecy.MAYBE and lower.endswith("key"):
        secrecy = Secrecy.SECRET
    if lower in ("authentication-info", "proxy-authentication-info"):
        secrecy = Secrecy.MAYBE
    if _is_count(value) and (secrecy is not Secrecy.SECRET or len(value) < 4 or value.isalpha()):
        return name, value
    if secrecy is Secrecy.SECRET:
        return name, REDACTED
    if not is_known_header(lower):
        return name, _hashed(value, how)
    if secrecy is Secrecy.NOTHING and _HEX.fullmatch(value) and not _is_known_secret(value):
        return name, value
    pieces = _SPLIT.split(value)
    if secrecy is Secrecy.MAYBE and any(map(looks_secret, pieces)):
        return name, REDACTED
    cleaned = _redact(value, how)
    names_things = cleaned != value or "://" in value or _IDENTIFIES.search(name)
    if not names_things and any(looks_random(piece, 20, 33) for piece in pieces):
        return name, _hashed(value, how)
    return name, cleaned


def _redact(text: str, how: Pass) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return redact_bytes(data, how).decode("utf-8", "surrogatepass")


def _hashed(value: str, how: Pass) -> str:
    return how.hashed(value.encode("utf-8", "surrogatepass")).decode()


def _is_known_secret(value: str) -> bool:
    return process_secrets().in_text(value.encode("utf-8", "surrogatepass"))


_NOT_SECRET = frozenset(
    {"sec-websocket-key", "permissions-policy", "referrer-policy", "content-security-policy"}
    | {"access-control-allow-credentials", "access-control-allow-headers", "idempotency-key"}
    | {"access-control-request-headers", "access-control-expose-headers", "sec-session-id"}
)


def _is_count(value: str) -> bool:
    """Whether a value is a small number or a boolean, and so no secret."""
    return value.lower() in ("", "0", "1", "true", "false", "?0", "?1") or (
        value.isdigit() and len(value) < 6
    )


def _protocols(value: str, how: Pass) -> str:
    """Return subprotocols (RFC 6455) without tokens, which scripts in browsers send there."""
    cleaned: list[str] = []
    announced = False
    for each in value.split(","):
        item = each.strip()
        if announced and len(item) >= 8:
            cleaned.append(REDACTED)
            announced = False
        else:
            cleaned.append(_protocol(_redact(item, how)))
            announced = name_secrecy(item) is Secrecy.SECRET or item.lower() in _SCHEMES
    return ", ".join(cleaned)


_SCHEMES = frozenset({"auth", "basic", "key", "session", "ticket"})
_WORDY = lazy_re(r"[A-Za-z]*[0-9]{0,3}")


def _protocol(item: str) -> str:
    """Return a subprotocol with parts redacted that are not words or versions."""
    if "." not in item:
        words = all(map(_WORDY.fullmatch, re.split("[-_+/]", item)))
        hidden = looks_random(item, 16, 25) or (looks_secret(item) and not words)
        return REDACTED if hidden else item
    parts = item.split(".")
    # Behind ``bearer`` any long part is secret; a host's name is not.
    announced = any(name_secrecy(part) is not Secrecy.NOTHING for part in parts)
    return ".".join(
        REDACTED
        if looks_random(part, 16, 25) or (announced and looks_secret(part) and len(part) >= 16)
        else part
        for part in parts
    )

"""Fake secrets that tests plant in traffic, by their place.

They follow the documentation of APIs, not WAREX's detectors. Values are generated at run time, so
that no scanner of repositories finds one here.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

type Place = Literal[
    "header", "answer_header", "query", "fragment", "path", "text", "field", "variable", "argument"
]

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = "0123456789"
_ALNUM = _LOWER + _UPPER + _DIGITS
_HEX = _DIGITS + "abcdef"


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret and the text around it."""

    place: Place
    name: str
    """The name of a header, a query's key, a field or a variable; empty without one."""
    value: str
    """The secret, which no file may contain."""
    context: str = "{}"
    """The text around the value."""

    @property
    def text(self) -> str:
        """The value in its context."""
        return self.context.replace("{}", self.value)


class _Dice:
    def __init__(self, seed: str) -> None:
        self._seed, self._drawn = seed, 0

    def of(self, alphabet: str, length: int) -> str:
        return "".join(alphabet[sign % len(alphabet)] for sign in self.bytes(length))

    def bytes(self, size: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_128(f"{self._seed} {self._drawn}".encode()).digest(size)

    def alnum(self, length: int) -> str:
        # With each kind of character, as nearly every random token has.
        return "".join(
            (
                self.of(_DIGITS, 1),
                self.of(_UPPER, 1),
                self.of(_LOWER, 1),
                self.of(_ALNUM, length - 3),
            )
        )

    def hex(self, length: int) -> str:
        return self.of(_HEX, length)

    def upper(self, length: int) -> str:
        return self.of(_UPPER + _DIGITS, length)

    def lower(self, length: int) -> str:
        return self.of(_LOWER + _DIGITS, length)

    def uuid(self) -> str:
        return "-".join(self.hex(n) for n in (8, 4, 4, 4, 12))

    def b64(self, size: int) -> str:
        return base64.b64encode(self.bytes(size)).decode()

    def url64(self, size: int) -> str:
        return base64.urlsafe_b64encode(self.bytes(size)).decode().rstrip("=")

    def digits(self, length: int) -> str:
        return self.of(_DIGITS, length)

    def password(self) -> str:
        words = ("Otter", "Maple", "Kettle", "Harbor", "Pickle", "Velvet", "Saddle", "Tundra")
        word = words[self.bytes(1)[0] % len(words)]
        return f"{word}{self.of('!$*.', 1)}{self.of(_DIGITS, 4)}{self.of(_LOWER, 3)}"

    def jwt(self) -> str:
        def part(value: object) -> str:
            text = json.dumps(value, separators=(",", ":")).encode()
            return base64.urlsafe_b64encode(text).decode().rstrip("=")

        claims = {"sub": self.digits(10), "iat": 1516239022, "jti": self.hex(8)}
        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{self.url64(32)}"


type _Draw = Callable[[_Dice], str]


def _token(length: int = 32) -> _Draw:
    return lambda dice: dice.alnum(length)


def _hex(length: int = 32) -> _Draw:
    return lambda dice: dice.hex(length)


def _uuid(dice: _Dice) -> str:
    return dice.uuid()


def _password(dice: _Dice) -> str:
    return dice.password()


def _otp(dice: _Dice) -> str:
    return dice.digits(8)


def _code(dice: _Dice) -> str:
    return "4/0A" + dice.url64(32)


def _saml(dice: _Dice) -> str:
    return base64.b64encode(f"<samlp:Response ID='_{dice.hex(24)}'>".encode()).decode()


def _jwt(dice: _Dice) -> str:
    return dice.jwt()


# ---- what the name says

_HEADERS: tuple[tuple[str, _Draw, str], ...] = (
    ("Authorization", _token(40), "Bearer {}"),
    (
        "Authorization",
        lambda d: base64.b64encode(f"bob:{d.alnum(12)}".encode()).decode(),
        "Basic {}",
    ),
    ("Authorization", _hex(32), "Token token={}"),
    (
        "Proxy-Authorization",
        lambda d: base64.b64encode(f"p:{d.alnum(12)}".encode()).decode(),
        "Basic {}",
    ),
    ("Cookie", _token(26), "lang=en; sessionid={}"),
    ("X-Api-Key", _uuid, "{}"),
    ("api_key", _token(), "{}"),
    ("apikey", _hex(), "{}"),
    ("Ocp-Apim-Subscription-Key", _hex(), "{}"),
    ("X-Functions-Key", lambda d: d.b64(40), "{}"),
    ("X-Auth-Key", _hex(37), "{}"),
    ("X-Auth-Email-Password", _password, "{}"),
    ("X-Access-Key", _token(20), "{}"),
    ("X-Session-Id", _uuid, "{}"),
    ("DD-API-KEY", _hex(), "{}"),
    ("DD-APPLICATION-KEY", _hex(40), "{}"),
    ("Sec-WebSocket-Protocol", _token(36), "graphql-ws, {}"),
    ("X-Amz-Security-Token", lambda d: d.b64(60), "{}"),
    ("X-Vault-Token", _token(26), "{}"),
    ("X-Shopify-Access-Token", _hex(), "{}"),
    ("PRIVATE-TOKEN", _token(20), "{}"),
    ("JOB-TOKEN", _token(20), "{}"),
    ("X-Gitlab-Token", _password, "{}"),
    ("X-CSRF-Token", _token(43), "{}"),
    ("X-XSRF-TOKEN", _token(43), "{}"),
    ("X-Goog-Api-Key", _token(39), "{}"),
    ("X-RapidAPI-Key", _token(50), "{}"),
    ("X-Parse-REST-API-Key", _token(40), "{}"),
    ("X-Parse-Master-Key", _token(40), "{}"),
    ("X-Parse-Session-Token", _hex(25), "r:{}"),
    ("X-Algolia-API-Key", _hex(), "{}"),
    ("X-Figma-Token", _token(43), "{}"),
    ("X-Postmark-Server-Token", _uuid, "{}"),
    ("X-Api-Secret", _token(), "{}"),
    ("X-Client-Secret", _token(), "{}"),
    ("Client-Secret", _token(), "{}"),
    ("X-CMC_PRO_API_KEY", _uuid, "{}"),
    ("CB-ACCESS-KEY", _token(16), "{}"),
    ("CB-ACCESS-SIGN", _hex(64), "{}"),
    ("CB-ACCESS-PASSPHRASE", _password, "{}"),
    ("OK-ACCESS-PASSPHRASE", _password, "{}"),
    ("X-MBX-APIKEY", _token(64), "{}"),
    ("X-Plex-Token", _token(20), "{}"),
    ("X-Emby-Token", _hex(), "{}"),
    ("X-Redmine-API-Key", _hex(40), "{}"),
    ("Circle-Token", _hex(40), "{}"),
    ("X-Trello-Token", _hex(64), "{}"),
    ("X-Hub-Signature-256", _hex(64), "sha256={}"),
    ("Stripe-Signature", _hex(64), "t=1492774577,v1={}"),
    ("X-Twilio-Signature", lambda d: d.b64(20), "{}"),
    ("X-Honeycomb-Team", _token(22), "{}"),
    ("X-Insert-Key", _token(32), "{}"),
    ("X-License-Key", _hex(40), "{}"),
    ("Api-Token", _token(64), "{}"),
    ("X-User-Password", _password, "{}"),
    ("X-OTP", _otp, "{}"),
    ("X-GitHub-OTP", _otp, "{}"),
    ("X-Amz-Credential", _token(20), "{}/20260101/us-east-1/s3/aws4_request"),
    ("X-Firebase-AppCheck", _jwt, "{}"),
    ("X-Goog-IAP-JWT-Assertion", _jwt, "{}"),
    ("Cf-Access-Client-Secret", _hex(64), "{}"),
    ("Cf-Access-Jwt-Assertion", _jwt, "{}"),
    ("X-ServiceBus-Auth", _token(44), "SharedAccessSignature sig={}"),
    ("X-My-Corp-Credential", _password, "{}"),
    ("X-Login-Ticket", _token(40), "{}"),
    ("X-Tableau-Auth", _token(32), "{}"),
    ("X-MSTR-AuthToken", _token(26), "{}"),
    ("X-ClickHouse-Key", _password, "{}"),
    ("X-Influx-Secret", _token(24), "{}"),
    ("X-SID", _token(32), "{}"),
    ("Sec-WebSocket-Protocol", _token(40), "v1.proto, bearer.{}"),
    ("Sec-WebSocket-Protocol", _token(40), "access_token, {}"),
    ("Sec-WebSocket-Protocol", _uuid, "mqtt, {}"),
    ("Sec-WebSocket-Protocol", lambda d: d.url64(30), "base64url.bearer.authorization.k8s.io.{}"),
    ("X-Magic-Link", _uuid, "{}"),
    ("X-Ticket", _uuid, "{}"),
    ("X-Session-Guid", _uuid, "{}"),
    ("Referer", _token(24), "https://sso.example/back?session_token={}"),
)

_ANSWER_HEADERS: tuple[tuple[str, _Draw, str], ...] = (
    ("Set-Cookie", _token(26), "sid={}; Path=/; HttpOnly"),
    ("Set-Cookie", _token(26), "remember_me={}; Path=/"),
    ("X-Subject-Token", _token(40), "{}"),
    ("X-Auth-Token", _hex(32), "{}"),
    ("X-CSRF-Token", _token(43), "{}"),
    ("Location", _code, "https://app.example/callback?code={}&state=ok"),
    ("Location", _token(40), "/welcome#access_token={}&token_type=bearer"),
    ("Link", _token(32), '<https://api.example/items?page=2&api_key={}>; rel="next"'),
    ("Refresh", _token(32), "0; url=https://app.example/in?ticket={}"),
    ("X-New-Api-Key", _token(32), "{}"),
    ("X-Refresh-Token", _token(48), "{}"),
    ("Authentication-Info", _hex(32), 'nextnonce="{}"'),
)

_QUERY: tuple[tuple[str, _Draw], ...] = (
    ("user[password]", _password),
    ("jwt", _token(40)),
    ("otp", _otp),
    ("sid", _token(26)),
    ("code", _code),
    ("private_token", _token(20)),
    ("subscription-key", _hex()),
    ("SAMLResponse", _saml),
    ("access_token", _token(40)),
    ("id_token", _jwt),
    ("refresh_token", _token(40)),
    ("api_key", _hex()),
    ("apikey", _token()),
    ("apiKey", _token()),
    ("key", _token(39)),
    ("appid", _hex()),
    ("app_key", _hex()),
    ("application_key", _hex(40)),
    ("api-token", _token()),
    ("auth", _token()),
    ("auth_token", _token()),
    ("authenticity_token", lambda d: d.b64(64)),
    ("client_secret", _token(24)),
    ("client_assertion", _jwt),
    ("code_verifier", _token(43)),
    ("credential", _password),
    ("csrf", _token(32)),
    ("_csrf", _token(32)),
    ("csrfmiddlewaretoken", _token(64)),
    ("__RequestVerificationToken", _token(92)),
    ("hapikey", _uuid),
    ("hmac", _hex(64)),
    ("magic", _token(40)),
    ("one_time_password", _otp),
    ("passcode", _otp),
    ("passphrase", _password),
    ("passwd", _password),
    ("password", _password),
    ("new_password_confirmation", _password),
    ("PHPSESSID", lambda d: d.lower(26)),
    ("jsessionid", _hex()),
    ("pin", _otp),
    ("pwd", _password),
    ("reset_token", _token(24)),
    ("resetPasswordToken", _token(24)),
    ("secret", _token(24)),
    ("security_token", _token(24)),
    ("session", _token(32)),
    ("session_id", _uuid),
    ("sessionKey", _token(32)),
    ("sig", lambda d: d.b64(32)),
    ("signature", lambda d: d.b64(32)),
    ("sign", _hex(32)),
    ("Signature", lambda d: d.url64(64)),
    ("Policy", lambda d: d.b64(60)),
    ("ticket", lambda d: "ST-1-" + d.alnum(20)),
    ("token", _token(32)),
    ("unsubscribe_token", _token(24)),
    ("verification_code", _otp),
    ("X-Amz-Credential", lambda d: "AKIA" + d.upper(16) + "/20260101/us-east-1/s3/aws4_request"),
    ("X-Amz-Signature", _hex(64)),
    ("X-Amz-Security-Token", lambda d: d.b64(60)),
    ("X-Goog-Signature", _hex(128)),
    ("hdnea", lambda d: "exp=1700000000~acl=/*~hmac=" + d.hex(64)),
    ("oauth_token", _token(24)),
    ("oauth_verifier", _token(24)),
    ("oauth_signature", lambda d: d.b64(20)),
    ("sso_ticket", _token(24)),
    ("webhook_secret", _token(24)),
    ("wp_nonce_key", _token(24)),
    ("crumb_token", _token(24)),
    ("userPassword", _password),
    ("login.passwordHash", _hex(64)),
    ("state_token", _token(30)),
    ("sharekey", _token(30)),
    ("sas", _token(43)),
    ("st", _token(32)),
    ("user_code", _token(24)),
    ("hash_key", _token(40)),
    ("zz7", _token(32)),
    ("handoff", _token(26)),
    ("magic_link", _uuid),
)

_NESTED: tuple[tuple[str, _Draw], ...] = (
    (
        "https://login.example/go?next=https%3A%2F%2Fapp.example%2Fin%3Faccess_token%3D{}",
        _token(40),
    ),
    (
        "https://login.example/go?url=https%253A%252F%252Fapp.example%252F%253Ftoken%253D{}%2526a%253D1",
        _token(40),
    ),
    ("https://login.example/go?redirect_uri=https%3A%2F%2Fbob%3A{}%40app.example%2F", _token(16)),
    ("https://login.example/go?to=/in?password={}", _password),
    ("https://proxy.example/https://app.example/in?api_key={}&x=1", _token(32)),
    ("https://api.example/graphql?variables=%7B%22password%22%3A%22{}%22%7D", _token(16)),
    ('https://api.example/q?filter={"api_key":"{}"}', _token(24)),
    (
        "https://img.example/fetch?src=https%3A%2F%2Fs3.example%2Fa.png%3FX-Amz-Signature%3D{}",
        _hex(64),
    ),
)

_FRAGMENTS: tuple[tuple[str, _Draw], ...] = (
    ("access_token", _token(40)),
    ("id_token", _jwt),
    ("/route?token", _token(30)),
)

_PATHS: tuple[tuple[str, _Draw], ...] = (
    ("/bot{}/sendMessage", lambda d: d.digits(10) + ":AA" + d.alnum(33)),
    ("/services/T0" + "1ABCDEFG/B0" + "1HIJKLMN/{}", _token(24)),
    ("/api/webhooks/1128173561829/{}", lambda d: d.alnum(68)),
    ("/password_resets/{}/edit", lambda d: d.url64(24)),
    ("/reset-password/{}", _hex(40)),
    ("/account/verify-email/{}", _token(43)),
    ("/invitations/accept/{}", _jwt),
    ("/magic-link/{}", _token(48)),
    ("/users/confirmation/token/{}", _token(20)),
    ("/shop;jsessionid={}?p=1", _hex(32)),
    ("/v1/secret/data/token={}/x", _token(30)),
    ("/feed/private-{}/basic.ics", _hex(32)),
    ("/hooks/catch/auth/{}", _token(32)),
    ("/download/" + "ghp" + "_{}/x.tar.gz", _token(36)),
    ("/api/" + "sk" + "_live_{}/charges", _token(24)),
    ("/unsubscribe/{}", _token(64)),
    ("/login/callback/session/{}", _token(40)),
    ("/oauth/code/{}", _token(40)),
    ("/auth/{}/callback", _hex(48)),
    ("/sso/v2/{}", _hex(64)),
)

# ---- what has a secret's shape, wherever it is

_SHAPES: tuple[_Draw, ...] = (
    lambda d: "sk-" + "proj-" + d.alnum(20) + "T3Blbk" + "FJ" + d.alnum(20),
    lambda d: "sk-" + d.alnum(48),
    lambda d: "sk-" + "ant-api03-" + d.alnum(90) + "-AA",
    lambda d: "sk-" + "or-v1-" + d.hex(64),
    lambda d: "AKIA" + d.of(_UPPER + "234567", 16),
    lambda d: "ASIA" + d.of(_UPPER + "234567", 16),
    lambda d: "AIza" + d.alnum(35),
    lambda d: "ya29." + d.alnum(60),
    lambda d: "GOCSPX-" + d.alnum(28),
    lambda d: "ghp" + "_" + d.alnum(36),
    lambda d: "gho" + "_" + d.alnum(36),
    lambda d: "ghs" + "_" + d.alnum(36),
    lambda d: "github_pat" + "_" + d.alnum(22) + "_" + d.alnum(59),
    lambda d: "glpat" + "-" + d.alnum(20),
    lambda d: "glrt" + "-" + d.alnum(20),
    lambda d: "xox" + "b-" + d.digits(12) + "-" + d.digits(12) + "-" + d.alnum(24),
    lambda d: (
        "xox" + "p-" + d.digits(12) + "-" + d.digits(12) + "-" + d.digits(12) + "-" + d.hex(32)
    ),
    lambda d: "xapp" + "-1-A" + d.upper(10) + "-" + d.digits(13) + "-" + d.hex(64),
    lambda d: (
        "https://hooks.slack.com/services/"
        + "T"
        + d.upper(10)
        + "/B"
        + d.upper(10)
        + "/"
        + d.alnum(24)
    ),
    lambda d: "sk" + "_live_" + d.alnum(24),
    lambda d: "rk" + "_live_" + d.alnum(24),
    lambda d: "sk" + "_test_" + d.alnum(24),
    lambda d: "whsec" + "_" + d.alnum(32),
    lambda d: "SG" + "." + d.alnum(22) + "." + d.alnum(43),
    lambda d: "npm" + "_" + d.alnum(36),
    lambda d: "pypi-" + "AgEIcHlwaS5vcmc" + d.alnum(70),
    lambda d: "dckr_pat" + "_" + d.alnum(27),
    lambda d: "dop_v1" + "_" + d.hex(64),
    lambda d: "shpat" + "_" + d.hex(32),
    lambda d: "shpss" + "_" + d.hex(32),
    lambda d: "sq0atp" + "-" + d.alnum(22),
    lambda d: "EAA" + "CEdEose0cBA" + d.alnum(120),
    lambda d: d.digits(10) + ":AA" + d.alnum(33),
    lambda d: "dapi" + d.hex(32),
    lambda d: "dp.pt." + d.alnum(43),
    lambda d: "lin_api" + "_" + d.alnum(40),
    lambda d: "ntn" + "_" + d.digits(11) + d.alnum(35),
    lambda d: "pat" + d.alnum(14) + "." + d.hex(64),
    lambda d: "figd" + "_" + d.alnum(40),
    lambda d: "PMAK" + "-" + d.hex(24) + "-" + d.hex(34),
    lambda d: "glsa" + "_" + d.alnum(32) + "_" + d.hex(8),
    lambda d: "glc" + "_" + d.b64(60).rstrip("="),
    lambda d: "NRAK" + "-" + d.upper(27),
    lambda d: "sntrys" + "_eyJpYXQiOjE2" + d.alnum(60) + "_" + d.alnum(43),
    lambda d: "hvs" + "." + d.alnum(95),
    lambda d: d.alnum(14) + ".atlasv1." + d.alnum(65),
    lambda d: "pul" + "-" + d.hex(40),
    lambda d: "rubygems" + "_" + d.hex(48),
    lambda d: "hf" + "_" + d.of(_LOWER + _UPPER, 34),
    lambda d: "r8" + "_" + d.alnum(37),
    lambda d: "gsk" + "_" + d.alnum(52),
    lambda d: "xai" + "-" + d.alnum(80),
    lambda d: "pplx" + "-" + d.alnum(48),
    lambda d: "pplx" + "-" + d.hex(48),
    lambda d: "tvly" + "-" + d.alnum(32),
    lambda d: "nvapi" + "-" + d.alnum(64),
    lambda d: "AGE-SECRET-KEY-1" + d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    lambda d: "sbp" + "_" + d.hex(40),
    lambda d: "pscale_tkn" + "_" + d.alnum(43),
    lambda d: "ATATT3x" + "FfGF0" + d.alnum(180) + "=" + d.upper(8),
    lambda d: "CFPAT" + "-" + d.alnum(43),
    lambda d: "LTAI" + d.alnum(20),
    lambda d: "ops" + "_eyJzaWduSW5BZGRyZXNzIjoi" + d.alnum(260),
    lambda d: "sgp" + "_" + d.hex(40),
    lambda d: "xkeysib" + "-" + d.hex(64) + "-" + d.alnum(16),
    lambda d: "shippo_live" + "_" + d.hex(40),
    lambda d: "tskey" + "-auth-" + d.alnum(17) + "-" + d.alnum(32),
    lambda d: "nfp" + "_" + d.alnum(36),
    lambda d: "sha256~" + d.alnum(43),
    lambda d: "AKCp" + d.alnum(69),
    lambda d: "EZAK" + d.alnum(54),
    lambda d: "duffel_live" + "_" + d.alnum(43),
    lambda d: "FLWSECK" + "_TEST-" + d.hex(32) + "-X",
    lambda d: "RGAPI" + "-" + d.uuid(),
    lambda d: "sk.eyJ" + d.alnum(60) + "." + d.alnum(22),
    lambda d: d.alnum(3) + "8Q~" + d.alnum(34),
    lambda d: d.hex(32) + "-us12",
    lambda d: "key" + "-" + d.hex(32),
    lambda d: "SK" + d.hex(32),
    _jwt,
    lambda d: "v1.0-" + d.hex(24) + "-" + d.hex(146),
    lambda d: d.of("MNO", 1) + d.of("T", 1) + d.alnum(22) + "." + d.alnum(6) + "." + d.alnum(27),
    lambda d: "1//0" + d.alnum(60),
)

# ---- recognised by the text before them

_TEXTS: tuple[tuple[str, _Draw], ...] = (
    ("the site is at https://bob:{}@intranet.example/wiki", _token(14)),
    ("postgres://app:{}@db.example:5432/app", _token(20)),
    ("mongodb+srv://app:{}@cluster0.example/app?w=majority", _token(20)),
    ("redis://:{}@cache.example:6379/0", _token(20)),
    ("amqps://svc:{}@mq.example/vhost", _token(20)),
    ("mysql+pymysql://root:{}@127.0.0.1/x", _password),
    ("ftp://anon:{}@files.example/pub", _password),
    ("Server=tcp:db.example,1433;User ID=sa;Password={};Encrypt=True", _password),
    (
        "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey={};EndpointSuffix=x",
        lambda d: d.b64(64),
    ),
    ("Endpoint=sb://x.example/;SharedAccessKeyName=Root;SharedAccessKey={}", lambda d: d.b64(32)),
    ("![cover](https://cdn.example/a.png?X-Amz-Expires=300&X-Amz-Signature={})", _hex(64)),
    (
        '<img src="https://cdn.example/a.png?Expires=17&amp;Signature={}&amp;Key-Pair-Id=K">',
        lambda d: d.url64(64),
    ),
    (
        "<img src='https://acc.example/c/a.png?sv=2024&amp;sr=b&amp;sig={}'>",
        lambda d: d.b64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
    ),
    ('<input type="hidden" name="csrf_token" value="{}">', _token(43)),
    ('<input value="{}" type="hidden" name="authenticity_token">', _token(43)),
    ('<input type="password" id="p" value="{}">', _password),
    ('<meta name="csrf-token" content="{}">', _token(43)),
    ("curl -H 'X-Api-Key: {}' https://api.example", _token(32)),
    ("curl -u bob:{} https://api.example", _token(16)),
    ('curl -H "Authorization: Bearer {}" https://api.example', _token(30)),
    ("Authorization: Basic {}", lambda d: base64.b64encode(f"bob:{d.alnum(12)}".encode()).decode()),
    ('Authorization: Digest username="bob", nonce="a", response="{}"', _hex(32)),
    ("Cookie: lang=en; session={}", _token(26)),
    ("set-cookie: sid={}; path=/", _token(26)),
    ("mytool --password={} --verbose", _token(16)),
    ("mytool --api-key {} --verbose", _token(32)),
    ("export AWS_SECRET_ACCESS_KEY={}", lambda d: d.b64(30)),
    ("DB_PASSWORD='{}'", _password),
    ('{"access_token": "{}", "expires_in": 3600}', _token(40)),
    ("{'client_secret': '{}', 'a': 1}", _token(24)),
    ('{\\"refresh_token\\": \\"{}\\"}', _token(40)),
    ('const apiKey = "{}";', _token(32)),
    ("api_key: {}", _token(32)),
    ("secret_key = {}", _token(40)),
    ("username=bob&password={}&remember=1", _token(14)),
    ("grant_type=authorization_code&code={}&client_id=web", _token(40)),
    (
        "-----BEGIN " + "RSA PRIVATE KEY-----\n{}\n-----END " + "RSA PRIVATE KEY-----",
        lambda d: d.b64(48),
    ),
    (
        "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n{}\n-----END " + "OPENSSH PRIVATE KEY-----",
        lambda d: d.b64(48),
    ),
    (
        "-----BEGIN "
        + "PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END "
        + "PGP PRIVATE KEY BLOCK-----",
        lambda d: d.b64(48),
    ),
    ("machine api.example login bob password {}", _token(20)),
    ("//registry.example/:_authToken={}", _token(36)),
    ("The password is {}.", _password),
    ("Log in as bob, passwd={} and go on", _password),
    ("pin: {}", lambda d: d.digits(6)),
    ("Your verification code is {}", _otp),
    ("[x](https://app.example/login?token={})", _token(30)),
    ("see https://app.example/#access_token={} now", _token(30)),
    ("https://discord.com/api/webhooks/112817356182900000/{}", lambda d: d.alnum(68)),
    ("https://api.telegram.org/bot{}/getMe", lambda d: d.digits(10) + ":AA" + d.alnum(33)),
)

_FIELDS: tuple[tuple[str, _Draw], ...] = (
    ("password", _password),
    ("new_password", _password),
    ("userPassword", _password),
    ("db_password", _password),
    ("api_key", _token(32)),
    ("openai_api_key", _token(32)),
    ("accessKeyId", _token(20)),
    ("secretAccessKey", _token(40)),
    ("client_secret", _token(24)),
    ("authToken", _token(24)),
    ("auth", _token(24)),
    ("bearer", _token(24)),
    ("credentials", _token(24)),
    ("otp", _otp),
    ("one_time_code", _otp),
    ("pin", _otp),
    ("cvv", _otp),
    ("sessionId", _token(24)),
    ("session_cookie", _token(24)),
    ("csrf_token", _token(24)),
    ("encryption_key", _token(32)),
    ("passphrase", _password),
    ("webhook_secret", _token(24)),
    ("recovery_code", _token(24)),
    ("jwt", _jwt),
    ("signature", _hex(64)),
    ("ssn_secret", _otp),
)

# ---- what the command received

_VARIABLES: tuple[tuple[str, _Draw], ...] = (
    ("DB_PASSWORD", _password),
    ("PGPASSWORD", _password),
    ("MYSQL_PWD", _password),
    ("REDIS_PASS", _password),
    ("SMTP_PASSWORD", _password),
    ("AWS_SECRET_ACCESS_KEY", lambda d: d.b64(30)),
    ("AWS_ACCESS_KEY_ID", lambda d: "AKIA" + d.of(_UPPER + "234567", 16)),
    ("AWS_SESSION_TOKEN", lambda d: d.b64(90)),
    ("SSH_PASSPHRASE", _password),
    ("GPG_PASSPHRASE", lambda d: "correct horse battery " + d.lower(6)),
    ("GITHUB_PAT", _token(36)),
    ("GH_TOKEN", _token(36)),
    ("NPM_AUTH", lambda d: d.b64(30)),
    ("DATABASE_URL", lambda d: f"postgres://app:{d.alnum(20)}@db.example/app"),
    ("SENTRY_DSN", lambda d: f"https://{d.hex(32)}@o1.ingest.example/1"),
    ("DJANGO_SECRET_KEY", lambda d: d.of(_ALNUM + "!@#$%^&*(-_=+)", 50)),
    ("JWT_SIGNING_KEY", _token(40)),
    ("ENCRYPTION_KEY", lambda d: d.b64(32)),
    ("SERVICE_CREDENTIALS", _token(40)),
    ("AZURE_CLIENT_SECRET", _token(40)),
    ("SLACK_WEBHOOK_URL", lambda d: "https://hooks.slack.com/services/T1/B2/" + d.alnum(24)),
    ("LICENSE_KEY", lambda d: "-".join(d.upper(5) for _ in range(5))),
    ("SESSION_COOKIE", _token(40)),
    ("OTP_SEED", lambda d: d.of(_UPPER + "234567", 32)),
    ("VAULT_UNSEAL_KEY", lambda d: d.b64(33)),
    ("WEBARENA_LOGIN_PW", _password),
    ("MODEL_APIKEY", _token(40)),
    ("X_BEARER", _token(40)),
    ("MY_AUTH", _token(40)),
    ("OPENAI_API_KEY", lambda d: "sk-" + d.alnum(48)),
    ("HARMLESS_LOOKING", lambda d: "ghp" + "_" + d.alnum(36)),
    ("GOOGLE_KEY_JSON", lambda d: '{"private_key": "' + d.b64(30) + '"}'),
    ("DEPLOY_SIGNATURE", _hex(64)),
    (
        "PRIVATE_KEY",
        lambda d: (
            "-----BEGIN "
            + f"PRIVATE KEY-----\n{d.b64(48)}\n{d.b64(48)}\n-----END "
            + "PRIVATE KEY-----"
        ),
    ),
)

_ARGUMENTS: tuple[tuple[str, _Draw], ...] = (
    ("--token {}", _token(32)),
    ("--password={}", _password),
    ("--api-key {}", _token(32)),
    ("--client-secret={}", _token(32)),
    ("-H 'X-Api-Key: {}'", _token(32)),
    ("--url=https://bob:{}@site.example/", _token(16)),
    ("OPENAI_API_KEY={}", _token(40)),
    ("--start https://site.example/?auth_token={}", _token(32)),
)


def planted(seed: str) -> tuple[Planted, ...]:
    """Return every secret, its values drawn from ``seed``."""
    return tuple(_all(_Dice(seed)))


def _all(dice: _Dice) -> Iterator[Planted]:
    for name, draw, context in _HEADERS:
        yield Planted("header", name, draw(dice), context)
    for name, draw, context in _ANSWER_HEADERS:
        yield Planted("answer_header", name, draw(dice), context)
    for name, draw in _QUERY:
        yield Planted("query", name, draw(dice))
    for context, draw in _NESTED:
        yield Planted("query", "", draw(dice), context)
    for name, draw in _FRAGMENTS:
        yield Planted("fragment", name, draw(dice))
    for context, draw in _PATHS:
        yield Planted("path", "", draw(dice), context)
    for draw in _SHAPES:
        yield Planted("text", "", draw(dice))
    for context, draw in _TEXTS:
        yield Planted("text", "", draw(dice), context)
    for name, draw in _FIELDS:
        yield Planted("field", name, draw(dice))
    for name, draw in _VARIABLES:
        yield Planted("variable", name, draw(dice))
    for context, draw in _ARGUMENTS:
        yield Planted("argument", "", draw(dice), context)

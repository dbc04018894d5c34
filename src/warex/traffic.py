"""How traffic is routed and read.

A field of ``TrafficOptions`` is a command-line option, a key of a campaign's ``traffic`` table, a
keyword of ``warex.intercept`` and an input of the proxy. It is a dataclass, which pydantic
validates like a model, because ``warex exec`` runs its command before pydantic is imported.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Final, Literal, Self, TypedDict, Unpack, get_args
from urllib.parse import SplitResult, urlsplit

from warex.errors import InputError
from warex.text.arguments import read_texts
from warex.text.lazy_pattern import lazy_re

type Arm = Literal["start", "first_page", "first_llm_call", "first_page_or_llm_call"]
"""When injection and counting start."""
type Capture = Literal["forward", "namespace", "transparent"]
"""How connections arrive: from clients that use the proxy; from the passed sockets of a namespace;
or redirected to the proxy by the machine's own rules."""
type Record = Literal["all", "concerned"]
"""Whether all traffic is read, or only what a rule or a model endpoint needs."""
type TokenDialect = Literal["vllm", "openai"]
"""How a model server is asked for tokens: vLLM's returns ids, OpenAI's only log-probabilities."""

_HOST = lazy_re(r"(\*\.)?[\w-]+(\.[\w-]+)*\.?|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+(%[\w.-]+)?\]?")
"""Letters, digits, hyphens and underscores between dots, or an IPv6 address."""
LEAST_REDACTED: Final = 4
"""Characters of a text to redact; a shorter one is part of many words."""
_PORTS: Final = {"http": 80, "https": 443}
_PROXIES: Final = ("http", "https", "socks5", "socks5h")

BACKGROUND_HOSTS: Final = (
    "clients1.google.com",
    "clients2.google.com",
    "clients4.google.com",
    "clientservices.googleapis.com",
    "update.googleapis.com",
    "edgedl.me.gvt1.com",
    "redirector.gvt1.com",
    "optimizationguide-pa.googleapis.com",
    "content-autofill.googleapis.com",
    "safebrowsing.googleapis.com",
    "safebrowsingohttpgateway.googleapis.com",
    "passwordsleakcheck-pa.googleapis.com",
    "chromewebstore.googleapis.com",
    "mtalk.google.com",
    "android.clients.google.com",
    "connectivitycheck.gstatic.com",
    "start.duckduckgo.com",
    "plausible.io",
    "googlechromelabs.github.io",
)
"""Hosts that only the browser itself or its driver uses; none is a task site."""

SHARED_HOSTS: Final = ("accounts.google.com", "google.com")
"""Hosts to which a browser also connects by itself: before it has a page, and to look a name up
that exists after one that does not (Chromium's DNS probe).

A connection try does not show whose it is: only a rule that names the host, or a task site, is
about it.
"""


class OptionError(InputError, ValueError):
    """An option's value is invalid; it is a ValueError so that pydantic reports it."""

    option: str
    why: str
    """What is wrong with the value, and what is allowed."""

    @classmethod
    def of(cls, option: str, why: str) -> Self:
        """Return an error that names the option."""
        error = cls(f"{option}: {why}")
        error.option, error.why = option, why
        return error


@dataclass(frozen=True, slots=True)
class HostMap:
    """Serves an origin from another: the browser requests the first, the proxy the second."""

    origin: str
    """Host of the origin that the browser requests, in lower case."""
    origin_port: int
    target_scheme: Literal["http", "https"]
    target_host: str
    target_port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``https://shop.example=http://127.0.0.1:8001``; https is the left's default.

        Raises ValueError for anything else.
        """
        left, _, right = text.partition("=")
        source = _split(left if "://" in left else f"https://{left}")
        target = _split(right)
        if source is None or target is None or {source.path, target.path} - {"", "/"}:
            raise ValueError(
                f"{text!r} is not a mapping of one origin to another;"
                " write for instance https://shop.example=http://127.0.0.1:8001"
            )
        return cls(
            origin=source.hostname or "",
            origin_port=source.port or _PORTS[source.scheme],
            target_scheme="http" if target.scheme == "http" else "https",
            target_host=target.hostname or "",
            target_port=target.port or _PORTS[target.scheme],
        )


def _split(url: str, schemes: Container[str] = _PORTS) -> SplitResult | None:
    """Split a URL; None if the text has another scheme, or an invalid host or port."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in schemes and parts.hostname else None


def read_origin(text: str) -> str:
    """Return an origin as browsers write it, without a trailing slash. Raises ValueError."""
    parts = _split(text)
    if not parts or parts.port == 0 or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text!r} is not an origin; write for instance https://shop.example")
    return origin_of(text)


def origin_of(url: str) -> str:
    """Return a URL without path, query and fragment. Raises ValueError for an invalid URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def read_host(text: str) -> str:
    """Return a host, or ``*.example`` for its subdomains, in lower case. Raises ValueError."""
    if _HOST.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a host; write shop.example or *.example")
    return text.lower()


def read_token_source(text: str) -> str:
    """Return a model server's host, with a dialect or without. Raises ValueError otherwise."""
    host, equals, dialect = text.partition("=")
    if equals and dialect not in get_args(TokenDialect.__value__):
        raise ValueError(f"{text!r} names no dialect of tokens; write {host}=vllm or {host}=openai")
    return f"{read_host(host)}{equals}{dialect}"


def read_map(text: str) -> str:
    """Return a text that ``HostMap`` can parse. Raises ValueError for anything else."""
    HostMap.parse(text)
    return text


def read_proxy_url(text: str) -> str:
    """Return a proxy's URL. Raises ValueError if it lacks scheme, host or port."""
    parts = _split(text, _PROXIES)
    if parts is None or not parts.port:
        raise ValueError(
            f"{text!r} is not a proxy; write http://host:port or http://user:password@host:port;"
            " https and socks5 are possible, too"
        )
    return text


def read_redacted(text: str) -> str:
    """Return a text to redact. Raises ValueError if it would take too much of a trace."""
    if len(text) < LEAST_REDACTED or not text.strip() or "\n" in text:
        raise ValueError(f"it has {LEAST_REDACTED} characters or more, on one line")
    return text


@dataclass(frozen=True, slots=True)
class Option:
    """Metadata of a field of ``TrafficOptions``."""

    flag: str
    read: Callable[[str], str] = str
    """Returns the normalised text; raises ValueError with a sentence for an invalid one."""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    example: str | None = None
    """A value for a new campaign file, where the default is None."""


def _option(flag: str, description: str, **more: Any) -> dict[str, Any]:
    """Return a field's metadata, from which pydantic reads the description."""
    return {"description": description, "option": Option(flag, **more)}


class TrafficKeywords(TypedDict, total=False):
    """The fields of ``TrafficOptions`` as keywords, which accept more types of lists."""

    maps: Mapping[str, str] | Sequence[str]
    upstream: str | None
    insecure: bool
    record: Record
    record_bodies: bool
    pass_through: Sequence[str]
    llm_hosts: Sequence[str]
    capture_tokens: Sequence[str]
    redact_strings: Sequence[str]
    arm: Arm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficOptions:
    """How traffic is routed and read. Raises OptionError for an invalid text."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "revalidate_instances": "always"}

    maps: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--map",
            "Serve an origin from another, as https://shop.example=http://127.0.0.1:8001.",
            read=read_map,
            metavar="ORIGIN=TARGET",
        ),
    )
    upstream: str | None = field(
        default=None,
        metadata=_option(
            "--upstream",
            "Use this upstream proxy: http://host:port, https://… or socks5://….",
            read=read_proxy_url,
            metavar="URL",
            example="http://proxy.example:3128",
        ),
    )
    insecure: bool = field(
        default=False, metadata=_option("--insecure", "Accept any certificate of sites.")
    )
    record: Record = field(
        default="all",
        metadata=_option(
            "--record",
            "Read all traffic, or only what rules and model endpoints need.",
            choices=get_args(Record.__value__),
        ),
    )
    record_bodies: bool = field(
        default=False,
        metadata=_option(
            "--record-bodies",
            "Record the bodies of requests and answers, redacted, but for those of models and"
            " tools.",
        ),
    )
    pass_through: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--pass-through",
            "Never read the traffic of this host, or of *.example.",
            read=read_host,
            metavar="HOST",
        ),
    )
    llm_hosts: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--llm-host",
            "A model's host, also read under --record concerned.",
            read=read_host,
            metavar="HOST",
        ),
    )
    capture_tokens: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--capture-tokens",
            "Record the token ids and log-probabilities of this model server's answers, as vllm"
            " (the default) or openai returns them, and hide them from the agent.",
            read=read_token_source,
            metavar="HOST[=DIALECT]",
        ),
    )
    redact_strings: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata=_option(
            "--redact-string",
            "Keep this text out of all files; better: $WAREX_REDACT_STRINGS, one a line.",
            read=read_redacted,
            metavar="TEXT",
        ),
    )
    arm: Arm | None = field(
        default=None,
        metadata=_option(
            "--arm",
            "When injection starts. [default: the scenario's]",
            choices=get_args(Arm.__value__),
            example="first_page",
        ),
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            try:
                value = _read(getattr(self, each.name), option_of(each).read)
            except ValueError as error:
                raise OptionError.of(each.name, str(error)) from None
            object.__setattr__(self, each.name, value)

    @property
    def host_maps(self) -> tuple[HostMap, ...]:
        """The parsed maps."""
        return tuple(map(HostMap.parse, self.maps))

    @property
    def all_llm_hosts(self) -> tuple[str, ...]:
        """The hosts of models, those whose tokens are captured included."""
        return (*self.llm_hosts, *(host for host, _ in self.token_dialects))

    @property
    def token_dialects(self) -> tuple[tuple[str, TokenDialect], ...]:
        """The hosts whose tokens are captured, each with its dialect."""
        parts = (text.partition("=") for text in self.capture_tokens)
        return tuple((host, "openai" if name == "openai" else "vllm") for host, _, name in parts)

    @property
    def reads_everything(self) -> bool:
        """Whether these options pass no host through unread."""
        return self.record == "all" and not self.pass_through

    def extended(self, **more: Unpack[TrafficKeywords]) -> Self:
        """Return the options with ``more``: lists are extended, other values replaced.

        A text means a list of one, a dict of origins to targets a list of maps. Raises
        OptionError for an invalid value.
        """
        changed: dict[str, Any] = dict(more)
        for name, value in changed.items():
            if isinstance(mine := getattr(self, name, None), tuple):
                try:
                    changed[name] = (*mine, *_texts(value))
                except ValueError as error:
                    raise OptionError.of(name, str(error)) from None
        return replace(self, **changed)


def option_of(known: Field[Any]) -> Option:
    """Return the metadata of a field of ``TrafficOptions``."""
    option: Option = known.metadata["option"]
    return option


def _read(value: object, read: Callable[[str], str]) -> object:
    match value:
        case str():
            return read(value)
        case tuple():
            return tuple(_read(each, read) for each in value)
    return value


def _texts(value: Mapping[str, str] | Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, Mapping):
        return tuple(f"{origin}={target}" for origin, target in value.items())
    return read_texts(value)

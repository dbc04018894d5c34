"""How traffic is routed and read: the options that the proxy takes from whoever starts it.

A field of ``TrafficOptions`` is an option of the command line, a key of a campaign's ``traffic``
table, a keyword of ``warex.intercept`` and what the proxy reads. It is a dataclass, which pydantic
checks as it checks a model of its own: ``warex exec`` runs its command before pydantic is loaded.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self, TypedDict, Unpack, get_args
from urllib.parse import urlsplit

from warex.errors import InputError

type Arm = Literal["start", "first_page", "first_llm_call"]
"""From when on exchanges are hit and counted."""
type Record = Literal["all", "concerned"]
"""Whether all traffic is read, or only what a rule or a model endpoint needs."""

_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*\.?|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]+(%[\w.-]+)?\]?")
"""Letters, digits, hyphens and underscores between dots, or an IPv6 address."""


class OptionError(InputError, ValueError):
    """An option has a value that cannot work; as a ValueError it is one of pydantic's mistakes."""

    option: str
    """The field's name."""
    why: str
    """What is wrong with the value, and what is allowed."""

    @classmethod
    def of(cls, option: str, why: str) -> Self:
        """Return one that names the option."""
        error = cls(f"{option}: {why}")
        error.option, error.why = option, why
        return error


@dataclass(frozen=True, slots=True)
class HostMap:
    """Serve one origin from another: the browser sees the first, the proxy asks the second."""

    origin: str
    """Host of the origin as the browser knows it, in lower case."""
    origin_port: int
    target_scheme: Literal["http", "https"]
    target_host: str
    target_port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``https://shop.example=http://127.0.0.1:8001``; raise ValueError for anything else.

        A bare host on the left stands for its https origin.
        """
        left, mark, right = text.partition("=")
        try:
            source = urlsplit(left if "://" in left else f"https://{left}")
            target = urlsplit(right)
            ports = source.port, target.port
        except ValueError:
            source = target = urlsplit("")
            ports = None, None
        if (
            not mark
            or source.scheme not in ("http", "https")
            or target.scheme not in ("http", "https")
            or not source.hostname
            or not target.hostname
            or source.path not in ("", "/")
            or target.path not in ("", "/")
        ):
            raise ValueError(
                f"{text!r} is no mapping of one origin to another;"
                " write for instance https://shop.example=http://127.0.0.1:8001"
            )
        scheme: Literal["http", "https"] = "http" if target.scheme == "http" else "https"
        return cls(
            origin=source.hostname,
            origin_port=ports[0] or (443 if source.scheme == "https" else 80),
            target_scheme=scheme,
            target_host=target.hostname,
            target_port=ports[1] or (443 if target.scheme == "https" else 80),
        )


def read_origin(text: str) -> str:
    """Return an origin as browsers write it: scheme, host and perhaps a port, no slash at its end.

    Raises ValueError for anything else.
    """
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text!r} is no origin; write for instance https://shop.example")
    return origin_of(text)


def origin_of(url: str) -> str:
    """Return a URL without its path, query and fragment; raise ValueError for a broken address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def read_host(text: str) -> str:
    """Return a host, or ``*.example`` for all below it, in lower case.

    Raises ValueError for anything else.
    """
    if _HOST.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no host; write shop.example or *.example")
    return text.lower()


def read_map(text: str) -> str:
    """Return a text that ``HostMap`` can parse as it is; raise ValueError for anything else."""
    HostMap.parse(text)
    return text


def read_proxy_url(text: str) -> str:
    """Return the URL of a proxy as it is; raise ValueError where it lacks scheme, host or port."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port
    except ValueError:
        good = None
    if not good:
        raise ValueError(
            f"{text!r} is no proxy; write http://host:port or http://user:password@host:port"
        )
    return text


@dataclass(frozen=True, slots=True)
class Option:
    """What the entrances know of a field of ``TrafficOptions`` beside its type and default."""

    flag: str
    """Its name on the command line."""
    read: Callable[[str], str] = str
    """Returns a text as it is kept; raises ValueError, in a sentence, for what cannot work."""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    example: str | None = None
    """A value for a campaign file that is to begin with, where the default is None."""


def _option(flag: str, description: str, **more: Any) -> dict[str, Any]:
    """Return a field's metadata; pydantic reads the description from there."""
    return {"description": description, "option": Option(flag, **more)}


class TrafficKeywords(TypedDict, total=False):
    """The fields of ``TrafficOptions`` as keywords, which are less strict about lists."""

    maps: Mapping[str, str] | Sequence[str]
    upstream: str | None
    insecure: bool
    record: Record
    pass_through: Sequence[str]
    llm_hosts: Sequence[str]
    arm: Arm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficOptions:
    """How traffic is routed and read, whatever the scenario is.

    Raises OptionError for a text that cannot work; values of another type are pydantic's to refuse.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "revalidate_instances": "always"}

    maps: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--map",
            "Serve an origin from elsewhere, as https://shop.example=http://127.0.0.1:8001.",
            read=read_map,
            metavar="ORIGIN=TARGET",
        ),
    )
    upstream: str | None = field(
        default=None,
        metadata=_option(
            "--upstream",
            "Go through another proxy: http://host:port.",
            read=read_proxy_url,
            metavar="URL",
            example="http://proxy.example:3128",
        ),
    )
    insecure: bool = field(
        default=False,
        metadata=_option("--insecure", "Accept any certificate of the sites."),
    )
    record: Record = field(
        default="all",
        metadata=_option(
            "--record",
            "Read all traffic, or only what a rule or a model endpoint needs.",
            choices=get_args(Record.__value__),
        ),
    )
    pass_through: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--pass-through",
            "Never read this host's traffic; *.example is allowed.",
            read=read_host,
            metavar="HOST",
        ),
    )
    llm_hosts: tuple[str, ...] = field(
        default=(),
        metadata=_option(
            "--llm-host",
            "A host that serves a model, also read under --record concerned.",
            read=read_host,
            metavar="HOST",
        ),
    )
    arm: Arm | None = field(
        default=None,
        metadata=_option(
            "--arm",
            "When injection starts; default: as the scenario says.",
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
        """The maps, read."""
        return tuple(map(HostMap.parse, self.maps))

    @property
    def reads_everything(self) -> bool:
        """Whether no host is passed through unread because of what stands here."""
        return self.record == "all" and not self.pass_through

    def extended(self, **more: Unpack[TrafficKeywords]) -> Self:
        """Return the options with more: lists are added to, any other value is replaced.

        One text stands for a list of it, and a mapping of origins to where they are served for its
        ``maps``. Raises OptionError for what cannot work.
        """
        changed: dict[str, Any] = dict(more)
        for name, value in changed.items():
            mine = getattr(self, name, None)
            if isinstance(mine, tuple):
                changed[name] = (*mine, *_texts(value))
        return replace(self, **changed)


def option_of(known: Field[Any]) -> Option:
    """Return what is said of a field of ``TrafficOptions``."""
    option: Option = known.metadata["option"]
    return option


def _read(value: object, read: Callable[[str], str]) -> object:
    match value:
        case str():
            return read(value)
        case tuple():
            return tuple(_read(each, read) for each in value)
    return value


def _texts(given: Mapping[str, str] | Sequence[str]) -> tuple[str, ...]:
    match given:
        case str():
            return (given,)
        case Mapping():
            return tuple(f"{origin}={target}" for origin, target in given.items())
    return tuple(given)

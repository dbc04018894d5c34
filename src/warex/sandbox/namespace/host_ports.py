"""Finds the loopback ports of this machine that a command needs to reach from its namespace.

A namespace has its own loopback: a model on the host's port 8000 is not there. Named ports are
passed to the proxy; all others belong to the command's own services.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from warex.files.reading import open_regular_file
from warex.linux.proc_net import listening, loopback_of

_LONGEST_FILE = 1 << 18
"""Bytes of a file that is searched."""
_LOOPBACK_URL = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|(?<![\w-])[\w-]+\.localhost|0\.0\.0\.0):(\d{1,5})(?!\d)",
    re.IGNORECASE,
)
_ENDPOINTS = ("_URL", "_URI", "_BASE_URL", "_ENDPOINT", "_API_BASE", "_BASE", "_HOST")
"""Suffixes of variables that name a service's address."""
_ENDPOINTS_BY_SERVICE = "AWS_ENDPOINT_URL_"
"""Prefix of those that AWS's SDKs read: ``AWS_ENDPOINT_URL_BEDROCK_RUNTIME``."""
_MODEL_ENDPOINTS = re.compile(
    r"(.*_)?(BASE_URL|API_BASE)|OLLAMA_HOST|AZURE_OPENAI_ENDPOINT|CO_API_URL"
    rf"|{_ENDPOINTS_BY_SERVICE}BEDROCK_RUNTIME",
    re.IGNORECASE,
)


def loopback_ports_in(text: str) -> set[int]:
    """Return the ports of loopback addresses in a text: a scenario, a URL, a command line."""
    return {port for number in _LOOPBACK_URL.findall(text) if 0 < (port := int(number)) < 65536}


def loopback_ports_in_files(arguments: Sequence[str]) -> dict[int, str]:
    """Return the loopback ports in the command's own files: port -> file.

    Those are the scripts and settings that the command line names, and ``.env``, which many agents
    read.
    """
    ports: dict[int, str] = {}
    for name in (*arguments, ".env"):
        for port in loopback_ports_in(_text_of(Path(name))):
            ports.setdefault(port, name)
    return ports


def loopback_ports_in_environment(environment: Mapping[str, str]) -> dict[int, str]:
    """Return the loopback ports in variables such as ``OPENAI_BASE_URL``: port -> variable."""
    ports: dict[int, str] = {}
    for name, value in environment.items():
        upper = name.upper()
        if upper.endswith(_ENDPOINTS) or upper.startswith(_ENDPOINTS_BY_SERVICE):
            for port in loopback_ports_in(value):
                ports.setdefault(port, name)
    return ports


def is_model_endpoint(variable: str) -> bool:
    """Return whether clients of models read this variable."""
    return _MODEL_ENDPOINTS.fullmatch(variable) is not None


def _text_of(path: Path) -> str:
    """Return a regular file's text; empty for others, and if it is too long for handwriting."""
    try:
        with open_regular_file(path) as file:
            content = file.read(_LONGEST_FILE + 1)
    except (OSError, ValueError):
        return ""
    return "" if len(content) > _LONGEST_FILE or b"\0" in content else content.decode("latin-1")


def direct_loopback_warnings(
    arguments: Sequence[str], environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield warnings about listening services on loopback that a command may contact.

    Without a namespace, programs reach loopback directly, past the proxy.
    """
    ports = dict.fromkeys(set().union(*map(loopback_ports_in, arguments)), "the command line")
    ports |= {
        p: name
        for p, name in loopback_ports_in_environment(environment).items()
        if is_model_endpoint(name)
    }
    open_ports = listening() if ports else set()
    yield from (
        direct_loopback_warning(name, port)
        for port, name in sorted(ports.items())
        if port in open_ports
    )


def direct_loopback_warning(name: str, port: int) -> str:
    """Return the warning about a port that ``name`` names."""
    return (
        f"{name} names port {port} of this machine's loopback, and what programs ask there goes"
        " past the proxy without a namespace: no call is recorded, no fault reaches it. Write"
        f" http://local.test:{port} there, and give --map"
        f" http://local.test:{port}=http://{loopback_of(port)}:{port}"
    )

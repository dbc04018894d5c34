"""The port for clients, tried before a trial begins."""

import os
import socket

from warex.errors import InputError
from warex.lane.config import ProxyConfig


def check_port(config: ProxyConfig) -> None:
    """Try the port before a trace begins: a trace would prevent a second start."""
    if config.port == 0:
        return
    try:
        family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        socket.create_server((config.host, config.port), family=family).close()
    except OSError as error:
        raise port_unavailable(config, error) from None


def port_unavailable(config: ProxyConfig, error: OSError) -> InputError:
    """Return the error of a port that is not available."""
    # Python adds the address to the system's message.
    if error.errno is None or error.errno < 0:  # A negative one is of a name lookup.
        why = (error.strerror or str(error)).partition(" (while attempting")[0]
    else:
        why = os.strerror(error.errno)
    return InputError(
        f"port {config.port} on {config.host} is not available: {why}; give another one, or 0 for"
        " any that is free"
    )

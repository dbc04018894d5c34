"""Sends traces to a receiver of OpenTelemetry, by OTLP over HTTP in protobuf."""

import os
from base64 import b64encode
from collections.abc import Iterable
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from warex.errors import InputError, MachineError
from warex.extras import require_extra

type Json = dict[str, Any]

_PATH: Final = "/v1/traces"
_TYPE: Final = "application/x-protobuf"
_HEADERS: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_TIMEOUT_S: Final = 10.0
_LARGEST_ANSWER: Final = 1 << 16
_IDS: Final = frozenset(("traceId", "spanId", "parentSpanId"))


def read_address(text: str) -> str:
    """Return the address that traces are sent to. Raises ValueError with a sentence."""
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError as error:
        raise ValueError(f"{text!r} is not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError(f"{text!r} is not the http:// or https:// URL of a receiver")
    return urlunsplit(url if url.path not in ("", "/") else url._replace(path=_PATH))


def send_traces(address: str, batches: Iterable[Json]) -> None:
    """Send OTLP's TracesData, each as a request.

    Raises MachineError if the receiver is not reached, or does not take all of it.
    """
    require_extra("otel", "--otlp", "opentelemetry.proto")
    from google.protobuf.json_format import ParseDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    )

    headers = {**_configured_headers(), "Content-Type": _TYPE}
    for batch in batches:
        message = ParseDict(_with_ids_in_base64(batch), ExportTraceServiceRequest())
        reply = _post(address, message.SerializeToString(), headers)
        try:
            rejected = ExportTraceServiceResponse.FromString(reply).partial_success
        except DecodeError:
            raise MachineError(f"--otlp {address}: the answer is not one of OTLP") from None
        if rejected.rejected_spans:
            raise MachineError(
                f"--otlp {address}: the receiver rejected {rejected.rejected_spans} spans:"
                f" {rejected.error_message!r}"
            )


def _configured_headers() -> dict[str, str]:
    """Return the headers that the variables of OpenTelemetry give, such as a key."""
    headers = {}
    for variable in _HEADERS:
        for pair in filter(str.strip, os.environ.get(variable, "").split(",")):
            name, mark, value = pair.partition("=")
            name, value = name.strip(), unquote(value.strip())
            if not mark or not name.isascii() or not name or not (name + value).isprintable():
                raise InputError(f"{variable}: this is not NAME=VALUE, with commas between several")
            headers[name] = value
    return headers


def _post(address: str, body: bytes, headers: dict[str, str]) -> bytes:
    request = Request(address, body, headers, method="POST")
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as response:
            answer: bytes = response.read(_LARGEST_ANSWER)
            return answer
    except HTTPError as error:
        with error:
            raise MachineError(
                f"--otlp {address}: the receiver answered {error.code} {error.reason}"
            ) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise MachineError(f"--otlp {address}: it cannot be reached: {reason}") from None


def _with_ids_in_base64(value: Any) -> Any:
    """Return OTLP's JSON as protobuf's, whose ids are not hexadecimal."""
    match value:
        case dict():
            return {
                key: b64encode(bytes.fromhex(item)).decode()
                if key in _IDS
                else _with_ids_in_base64(item)
                for key, item in value.items()
            }
        case list():
            return [_with_ids_in_base64(item) for item in value]
        case _:
            return value

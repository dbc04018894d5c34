"""HAR 1.2 as a JSON schema, from its specification: what is required, and the types."""

from typing import Any, Final

type Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number", "minimum": -1}
_TIME: Final[Schema] = {"type": "string", "format": "date-time"}


def _object(required: Schema, **optional: Schema) -> Schema:
    """Return the schema of an object; names of own fields begin with an underscore."""
    return {
        "type": "object",
        "properties": {**required, **optional, "comment": _TEXT},
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
        "required": list(required),
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_PAIR: Final = _object({"name": _TEXT, "value": _TEXT})
_COOKIE: Final = _object(
    {"name": _TEXT, "value": _TEXT},
    path=_TEXT,
    domain=_TEXT,
    expires=_TIME,
    httpOnly={"type": "boolean"},
    secure={"type": "boolean"},
    sameSite=_TEXT,
)
_MESSAGE: Final[Schema] = {
    "httpVersion": _TEXT,
    "cookies": _list(_COOKIE),
    "headers": _list(_PAIR),
    "headersSize": {"type": "integer", "minimum": -1},
    "bodySize": {"type": "integer", "minimum": -1},
}
_REQUEST: Final = _object(
    {**_MESSAGE, "method": _TEXT, "url": _TEXT, "queryString": _list(_PAIR)},
    postData=_object({"mimeType": _TEXT}, text=_TEXT, params=_list(_PAIR)),
)
_RESPONSE: Final = _object(
    {
        **_MESSAGE,
        "status": {"type": "integer"},
        "statusText": _TEXT,
        "redirectURL": _TEXT,
        "content": _object(
            {"size": {"type": "integer", "minimum": 0}, "mimeType": _TEXT},
            text=_TEXT,
            encoding=_TEXT,
            compression={"type": "integer"},
        ),
    }
)
_TIMINGS: Final = _object(
    {name: {"type": "number", "minimum": 0} for name in ("send", "wait", "receive")},
    **dict.fromkeys(("blocked", "dns", "connect", "ssl"), _NUMBER),
)
_ENTRY: Final = _object(
    {
        "startedDateTime": _TIME,
        "time": {"type": "number", "minimum": 0},
        "request": _REQUEST,
        "response": _RESPONSE,
        "cache": _object({}),
        "timings": _TIMINGS,
    },
    pageref=_TEXT,
    serverIPAddress=_TEXT,
    connection=_TEXT,
)
HAR: Final = _object(
    {
        "log": _object(
            {
                "version": {"const": "1.2"},
                "creator": _object({"name": _TEXT, "version": _TEXT}),
                "entries": _list(_ENTRY),
            },
            browser=_object({"name": _TEXT, "version": _TEXT}),
            pages=_list({"type": "object"}),
        )
    }
)

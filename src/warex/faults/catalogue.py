"""The catalogue: which faults there are, found by the names of their files.

A fault is imported when its kind is first asked for: together they take longer to import than all
else that a trial without faults needs. Faults of other distributions are found by their entry
points, which are read only for a kind that WAREX does not have, and for the whole list.
"""

from collections.abc import Mapping
from functools import cache, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, SchemaValidator, core_schema

from warex.faults.base import Fault
from warex.plugins import PluginGroup, subclass_of

_FOLDER: Final = Path(__file__).parent
_PACKAGE: Final = __name__.rpartition(".")[0]
_TAG: Final = "kind"


def fault_named(kind: str) -> type[Fault] | None:
    """Return the fault of a kind; None if there is no such kind.

    Raises MachineError if the kind is of another distribution whose fault cannot be used.
    """
    for module in _modules().get(kind, ()):
        for fault in _faults_in(module):
            if kind_of(fault) == kind:
                return fault
    return _PLUGINS.load(kind)


@cache
def catalogue() -> tuple[type[Fault], ...]:
    """Return every fault, in alphabetical order; this imports all of them.

    A fault of another distribution that cannot be used is left out, with a warning.
    """
    faults = (*built_in_faults(), *_PLUGINS.load_all())
    return tuple(sorted(faults, key=lambda fault: fault.__name__))


@cache
def built_in_faults() -> tuple[type[Fault], ...]:
    """Return the faults of WAREX itself, in alphabetical order; this imports all of them."""
    modules = (module for named in _modules().values() for module in named)
    faults = (fault for module in modules for fault in _faults_in(module))
    return tuple(sorted(faults, key=lambda fault: fault.__name__))


def preload() -> None:
    """Import WAREX's faults and build what validates them, once before many lanes are forked."""
    for fault in built_in_faults():
        _validator(fault)


def kind_of(fault: type[Fault]) -> str:
    """Return the kind of a fault's class."""
    kind: str = fault.model_fields[_TAG].default
    return kind


def _accept(kind: str, value: object) -> type[Fault]:
    """Return another distribution's fault; raise ValueError, with the reason, if it is invalid."""
    fault = subclass_of(Fault, value)  # type: ignore[type-abstract]
    field = fault.model_fields.get(_TAG)
    if field is None or field.default != kind:
        raise ValueError(f'does not have the field {_TAG}: Literal["{kind}"] = "{kind}"')
    if not isinstance(getattr(fault, "summary", None), str):
        raise ValueError("does not have a summary")
    try:
        fault()
    except ValidationError as error:
        parameter = error.errors()[0]["loc"][0]
        raise ValueError(f"has the parameter {parameter!r} without a valid default") from error
    return fault


@cache
def _modules() -> Mapping[str, tuple[str, ...]]:
    """Return the modules in the groups' folders by their last names."""
    modules: dict[str, tuple[str, ...]] = {}
    for file in sorted(_FOLDER.glob("*/*.py")):
        module = f"{_PACKAGE}.{file.parent.name}.{file.stem}"
        modules[file.stem] = (*modules.get(file.stem, ()), module)
    return modules


_PLUGINS: Final = PluginGroup("warex.faults", lambda: _modules(), _accept)


def _faults_in(module: str) -> tuple[type[Fault], ...]:
    """Return the faults of a module: those that are defined there and have a kind."""
    members = vars(import_module(module)).values()
    return tuple(
        it
        for it in members
        if isinstance(it, type)
        and it.__module__ == module
        and issubclass(it, Fault)
        and _TAG in it.model_fields
    )


class _ByKind:
    """Validates a fault with the model of its kind, as a discriminated union of all would."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(_validate)

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        union = Annotated[reduce(or_, catalogue()), Field(discriminator=_TAG)]  # type: ignore[valid-type]
        return handler(TypeAdapter(union).core_schema)


def _validate(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, Fault):
        return value
    names_kind = isinstance(value, Mapping) and _TAG in value
    kind = value[_TAG] if names_kind else None
    fault = fault_named(kind) if isinstance(kind, str) else None
    if names_kind and fault is None:
        kinds = ", ".join(repr(kind_of(known)) for known in catalogue())
        raise PydanticKnownError(
            "union_tag_invalid",
            {"discriminator": repr(_TAG), "tag": str(kind), "expected_tags": kinds},
        )
    return _validator(fault).validate_python(value, context=info.context)


@cache
def _validator(fault: type[Fault] | None) -> SchemaValidator:
    """Return the validator of the union with only this fault; it reports what has no kind."""
    choices = {}
    if fault is not None:
        fault.model_rebuild()
        choices = {kind_of(fault): fault.__pydantic_core_schema__}
    return SchemaValidator(core_schema.tagged_union_schema(choices, discriminator=_TAG))


if TYPE_CHECKING:
    type AnyFault = Fault
else:
    type AnyFault = Annotated[Fault, _ByKind()]
"""Any fault, discriminated by ``kind``."""

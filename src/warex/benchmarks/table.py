"""A campaign's ``benchmark``: a name or a table."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    Field,
    JsonValue,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)

type Text = Annotated[str, StringConstraints(min_length=1)]


class BenchmarkConfig(BaseModel, frozen=True, extra="forbid"):
    """A benchmark's name, the folder of its environment, and its adapter's options."""

    name: Text
    dir: Text | None = Field(default=None, description="Folder that `warex benchmarks setup` made.")
    sites: dict[str, Text] = Field(
        default_factory=dict,
        description="Where each site is served: {site = URL}, or a list of sites at their own"
        " addresses.",
    )
    options: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Options of the benchmark; `warex benchmarks show NAME` lists them.",
    )
    _folder: Path | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("sites", mode="before")
    @classmethod
    def _list_of_sites(cls, value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(site, str) for site in value):
            return {site: site for site in value}
        return value

    @model_serializer(mode="wrap")
    def _in_short_form(self, write: SerializerFunctionWrapHandler) -> Any:
        """Write the name alone if nothing else is set."""
        fields = {key: value for key, value in write(self).items() if value}
        return self.name if fields.keys() == {"name"} else fields

    def relative_to(self, folder: Path) -> "BenchmarkConfig":
        """Return the table with paths relative to the campaign's folder."""
        copy = self.model_copy()
        copy._folder = folder  # type: ignore[misc] # mypy takes frozen to include private ones
        return copy

    def path(self, text: str) -> Path:
        """Return a path of the table, relative to the campaign's folder if it exists there."""
        path = Path(text).expanduser()
        if self._folder is not None and (self._folder / path).exists():
            return (self._folder / path).absolute()
        return path.absolute()

    @property
    def installation_dir(self) -> Path | None:
        """The folder of the benchmark's own environment."""
        return None if self.dir is None else self.path(self.dir)

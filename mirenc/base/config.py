"""`Config`, the base of every configuration: typed, frozen, unknown keys refused with a suggestion; TOML files."""

import os
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Tag, ValidationError

from mirenc.base.errors import ConfigError, did_you_mean

_SHOWN = 400  # characters of a configuration's `repr`


class Config(BaseModel):
    """Base: frozen, no unknown keys, errors as `ConfigError`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __repr__(self) -> str:
        text = super().__repr__()
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...)"

    @classmethod
    def from_dict(cls, values: dict[str, Any], *, where: str = "configuration") -> Self:
        """Validate plain values; a `ConfigError` names the first wrong key or value, and the nearest right key."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{where}: {_explain(cls, error)}") from None


def _explain(cls: type[BaseModel], error: ValidationError) -> str:
    first = error.errors()[0]
    owner: Any = cls
    place: list[str] = []  # as a user writes it: without the tags of kinds that pydantic puts between
    for part in map(str, first["loc"]):
        if part in (kinds := _kinds(owner)):
            owner = kinds[part]
            continue
        place.append(part)
        if part.isdigit() and get_args(owner):  # a place in a tuple of tables
            owner = get_args(owner)[0]
        elif part in (fields := _fields(owner)):
            owner = fields[part].annotation
    key = ".".join(place)
    if first["type"] == "extra_forbidden":
        allowed = list(_fields(owner))
        hint = did_you_mean(str(first["loc"][-1]), allowed) or f"known keys: {', '.join(allowed)}"
        return f"unknown key {key!r}; {hint}"
    value = "" if isinstance(first["input"], dict) else f" (found {first['input']!r})"  # a dict would show all values
    return f"{key or 'values'}: {first['msg'].removeprefix('Value error, ')}{value}"


def _fields(owner: Any) -> dict[str, Any]:
    """Fields of a configuration by the names that a user writes."""
    return {field.alias or name: field for name, field in getattr(owner, "model_fields", {}).items()}


def _kinds(annotation: Any) -> dict[str, Any]:
    """The classes of a field that takes several kinds, by their tags; {} for any other field."""
    kinds: dict[str, Any] = {}
    for member in get_args(annotation):
        inner, *extras = get_args(member) or (member,)  # of Annotated: the type, then what is said of it
        kinds |= {extra.tag: inner for extra in extras if isinstance(extra, Tag)} or _kinds(member)
    return kinds


def load_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Values of a TOML file; one that is missing or no TOML is a `ConfigError`, with the parser's line and column."""
    import tomllib  # here, because it compiles patterns, and to embed takes no TOML

    try:
        with open(path, "rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        raise ConfigError(f"{os.fspath(path)}: no such file. Check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{os.fspath(path)}: not TOML: {error}. Mend this place") from None

"""Python types to JSON Schema, by way of pydantic.

pydantic models, dataclasses, TypedDicts, Literals, Enums and annotations such as
``list[int] | None`` all have a schema that pydantic writes; it is imported here,
when such a type is given, and never otherwise.

An object that says nothing of extra keys is closed (``additionalProperties:
false``): pydantic would drop them, so a model would write them for nothing.
``extra="allow"`` leaves it open.
"""

from __future__ import annotations

from typing import Any

from stcon.errors import SchemaError


def schema_of(annotation: object) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the values of a Python type, as pydantic
    would read them from JSON.

    Raises SchemaError when pydantic is not installed, or when it cannot say
    which JSON the type has.
    """
    if annotation is None or not _is_type(annotation):
        raise SchemaError(
            f"{annotation!r:.60} is neither a schema nor a type",
            pointer="#",
            hint="give a dict, JSON text, True, or a type such as a pydantic model",
        )
    pydantic = _pydantic(annotation)
    try:
        adapter = pydantic.TypeAdapter(annotation)
        return dict(adapter.json_schema(schema_generator=_closing_generator()))
    except pydantic.PydanticUserError as error:
        raise _unknown(annotation, error) from error
    except NameError as error:
        raise _unknown(annotation, error) from error


def _is_type(annotation: object) -> bool:
    """Whether ``annotation`` could be a type: a class, or a form of typing."""
    if isinstance(annotation, (type, str)):
        return isinstance(annotation, type)
    home = type(annotation).__module__
    return home in ("typing", "types", "typing_extensions")


def _pydantic(annotation: object) -> Any:
    try:
        import pydantic
    except ImportError:
        raise SchemaError(
            f"the schema of {_name(annotation)} needs pydantic",
            pointer="#",
            hint="pip install 'pydantic>=2', or give the JSON Schema as a dict",
        ) from None
    return pydantic


def _closing_generator() -> Any:
    """pydantic's schema writer, but for objects that are closed."""
    from pydantic.json_schema import GenerateJsonSchema

    class Closing(GenerateJsonSchema):
        """Closes the objects that do not speak of extra keys."""

        def model_schema(self, schema: Any) -> Any:
            return _closed(super().model_schema(schema))

        def dataclass_schema(self, schema: Any) -> Any:
            return _closed(super().dataclass_schema(schema))

        def typed_dict_schema(self, schema: Any) -> Any:
            return _closed(super().typed_dict_schema(schema))

    return Closing


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema``, without extra keys unless it mentions them."""
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def _unknown(annotation: object, error: Exception) -> SchemaError:
    reason = str(error).split("\n", 1)[0]
    return SchemaError(
        f"pydantic has no JSON Schema of {_name(annotation)}: {reason}",
        pointer="#",
        hint="use types that JSON can hold, or give the JSON Schema as a dict",
    )


def _name(annotation: object) -> str:
    return getattr(annotation, "__qualname__", repr(annotation))[:60]

"""The part of JSON Schema that describes an answer: types, properties, items, bounds; nothing that refers."""

import re

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "pattern"}
    | {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "title", "description"}
)


def unsupported(schema: object, at: str = "json_schema") -> str | None:
    """Return what in a schema cannot be checked, as a sentence, or None when all of it can."""
    if not isinstance(schema, dict):
        return f"{at} must be a mapping"
    if unknown := sorted(schema.keys() - _KEYWORDS):
        return f"{at} uses {unknown[0]}, which is not checked here; known: {', '.join(sorted(_KEYWORDS))}"
    for name in _names(schema.get("type", [])):
        if name not in _TYPES:
            return f"{at}.type must be one of {', '.join(_TYPES)}"
    if isinstance(pattern := schema.get("pattern"), str):
        try:
            re.compile(pattern)
        except re.error as error:
            return f"{at}.pattern is no regular expression: {error}"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return f"{at}.properties must be a mapping"
    inner = [(f"{at}.properties.{name}", item) for name, item in properties.items()]
    if "items" in schema:
        inner.append((f"{at}.items", schema["items"]))
    return next((said for path, item in inner if (said := unsupported(item, path))), None)


def violation(value: object, schema: dict[str, object], at: str = "$") -> str | None:
    """Return where and why a value does not fit a supported schema, or None when it does.

    Says the place and the keyword, never the value.
    """
    types = _names(schema.get("type", []))
    if types and not any(_is(value, name) for name in types):
        return f"{at} is not of type {' or '.join(types)}"
    allowed = schema.get("enum")
    if (isinstance(allowed, list) and value not in allowed) or (
        "const" in schema and value != schema["const"]
    ):
        return f"{at} is not an allowed value"
    if (said := _outside(value, schema, at)) is not None:
        return said
    if isinstance(value, dict):
        return _object(value, schema, at)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        found = (violation(item, items, f"{at}[{index}]") for index, item in enumerate(value))
        return next((said for said in found if said), None)
    return None


def _object(value: dict[str, object], schema: dict[str, object], at: str) -> str | None:
    required, properties = schema.get("required"), schema.get("properties", {})
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"{at}.{name} is missing"
    if not isinstance(properties, dict):
        return None
    if schema.get("additionalProperties") is False and value.keys() - properties.keys():
        return f"{at} has a property that is not in the schema"
    found = (
        violation(value[name], inner, f"{at}.{name}") for name, inner in properties.items() if name in value
    )
    return next((said for said in found if said), None)


def _outside(value: object, schema: dict[str, object], at: str) -> str | None:
    size: float | None = None
    words = ("minimum", "maximum")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        size = value
    elif isinstance(value, str):
        size, words = len(value), ("minLength", "maxLength")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not re.search(pattern, value):
            return f"{at} does not match its pattern"
    elif isinstance(value, list):
        size, words = len(value), ("minItems", "maxItems")
    least, most = (schema.get(word) for word in words)
    if size is not None and isinstance(least, (int, float)) and size < least:
        return f"{at} is below its {words[0]}"
    if size is not None and isinstance(most, (int, float)) and size > most:
        return f"{at} is above its {words[1]}"
    return None


def _is(value: object, name: str) -> bool:
    # JSON's true is no number, though Python's is.
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _names(types: object) -> list[str]:
    return [str(name) for name in types] if isinstance(types, list) else [str(types)]

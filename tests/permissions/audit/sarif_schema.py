"""A part of the JSON schema of SARIF 2.1.0: the objects that AIX writes.

No package brings the schema of OASIS along, so this is a part of it in our own words: of each object only the
properties that AIX writes, with the types, words, bounds and required properties that the schema has for them. A
property that is not here fails the test, until somebody has looked it up.
"""

from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_INDEX: dict[str, Any] = {"type": "integer", "minimum": -1}
_BAG: dict[str, Any] = {
    "type": "object",
    "properties": {"tags": {"type": "array", "uniqueItems": True, "items": _TEXT}},
}
_LEVEL: dict[str, Any] = {"enum": ["none", "note", "warning", "error"]}


def _object(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], *, unique: bool = False) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": unique}


_MESSAGE = _object("text", text=_TEXT)
_RULE = _object("id", id=_TEXT, shortDescription=_MESSAGE, fullDescription=_MESSAGE, help=_MESSAGE, properties=_BAG)
_DRIVER = _object("name", name=_TEXT, version=_TEXT, rules=_list(_RULE, unique=True))
_NOTIFICATION = _object("message", message=_MESSAGE, level=_LEVEL)
_INVOCATION = _object(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=_list(_NOTIFICATION),
)
_PHYSICAL_LOCATION = _object(
    "artifactLocation",
    artifactLocation=_object(uri={"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*$"}),
    region=_object("startLine", startLine={"type": "integer", "minimum": 1}),
)
_LOCATION = _object(
    physicalLocation=_PHYSICAL_LOCATION,
    logicalLocations=_list(_object(name=_TEXT, kind=_TEXT), unique=True),
)
_RESULT = _object(
    "message",
    ruleId=_TEXT,
    ruleIndex=_INDEX,
    level=_LEVEL,
    message=_MESSAGE,
    locations=_list(_LOCATION),
    relatedLocations=_list(_LOCATION, unique=True),
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
    occurrenceCount={"type": "integer", "minimum": 1},
    properties=_BAG,
)
_RUN = _object(
    "tool",
    tool=_object("driver", driver=_DRIVER),
    automationDetails=_object(id=_TEXT),
    invocations=_list(_INVOCATION),
    results=_list(_RESULT),
    properties=_BAG,
)
SARIF = _object("version", "runs", version={"enum": ["2.1.0"]}, runs=_list(_RUN), **{"$schema": _TEXT})

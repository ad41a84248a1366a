"""Parameters and results of calls, which are JSON of any form, as text that says what people want to know."""

import json
import re

from aix.output.transcript.model import Excerpt

_TELLING = (
    "file_path",
    "path",
    "file",
    "filename",
    "notebook_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "uri",
    "description",
    "task",
    "prompt",
    "name",
    "text",
)
"""Names of parameters that say most about a call, the most telling first."""
_SPEAKING = ("stdout", "output", "content", "text", "result", "message", "stderr", "error")
"""Names under which a result keeps what it says."""
_TEXT_PAIR = re.compile(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)')
_NO_JSON = object()


def telling_parameter(params: Excerpt) -> str:
    """Return the parameter that says most about a call, or nothing.

    >>> telling_parameter(_whole('{"glob": "*.py", "pattern": "def x"}'))
    'def x'
    """
    decoded = _decoded(params)
    if isinstance(decoded, dict):
        texts = {name: value for name, value in decoded.items() if isinstance(value, str) and value.strip()}
    else:
        texts = _text_pairs(params.text)
    return next((texts[name] for name in _TELLING if name in texts), next(iter(texts.values()), ""))


def readable_params(params: Excerpt) -> Excerpt:
    """Return all parameters, each with its name before it."""
    decoded = _decoded(params)
    if not isinstance(decoded, dict):
        return params
    return _whole("\n".join(f"{name}: {_text_of(value)}" for name, value in decoded.items()))


def readable_result(result: Excerpt) -> Excerpt:
    """Return what a result says, without the JSON around it where that is known."""
    value = _decoded(result)
    if value is not _NO_JSON:
        return _whole(_text_of(value))
    if result.text.startswith('"'):
        return Excerpt(_unescaped(result.text[1:]), result.characters)
    texts = _text_pairs(result.text)
    spoken = next((texts[name] for name in _SPEAKING if name in texts), result.text)
    return Excerpt(spoken, result.characters)


def _text_of(value: object) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case list() if value and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in value):
            return "\n".join(part["text"] for part in value)
        case dict():
            spoken = next((value[name] for name in _SPEAKING if isinstance(value.get(name), str) and value[name]), None)
            return spoken or json.dumps(value, ensure_ascii=False)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _decoded(excerpt: Excerpt) -> object:
    if not excerpt.is_whole:
        return _NO_JSON
    try:
        return json.loads(excerpt.text)
    except (ValueError, RecursionError):
        return _NO_JSON


def _text_pairs(text: str) -> dict[str, str]:
    """Find names and texts in JSON of which the end may be missing."""
    return {name: _unescaped(value) for name, value in _TEXT_PAIR.findall(text) if value.strip()}


def _unescaped(text: str) -> str:
    """Undo the escapes of a JSON text of which the end may be missing."""
    for end in (len(text), *(len(text) - cut for cut in range(1, 7))):
        try:
            return str(json.loads(f'"{text[:end]}"', strict=False))
        except ValueError:
            continue
    return text


def _whole(text: str) -> Excerpt:
    return Excerpt(text, len(text))

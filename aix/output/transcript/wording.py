"""Sentences about a session, a turn or a call, in the words that all forms of a transcript share."""

import json
import re
import shlex
from collections.abc import Iterator
from datetime import tzinfo
from itertools import groupby

from aix.output.humanise import (
    bounded_dollars,
    counted,
    dollars,
    in_words,
    local_time,
    one_line,
    short_count,
    short_duration,
    split_markup,
)
from aix.output.transcript.model import (
    Call,
    Compaction,
    Cost,
    Excerpt,
    File,
    Header,
    Message,
    Subagent,
    Tokens,
    Turn,
    View,
)

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
_COMMANDS = ("command", "cmd")
_SPEAKING = ("stdout", "output", "content", "text", "result", "message", "stderr", "error")
"""Names under which a result keeps what it says."""
_TEXT_PAIR = re.compile(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)')
_CODE = re.compile(r"[a-z]{1,30}(?:_[a-z]{1,30}){1,5}")
_NO_JSON = object()
_TELLING_CHARACTERS = 100
_TITLE_CHARACTERS = 200
_FILES_SHOWN = 12


def telling_parameter(params: Excerpt) -> str:
    """Return the parameter that says most about a call, or nothing.

    >>> telling_parameter(_whole('{"glob": "*.py", "pattern": "def x"}'))
    'def x'
    >>> telling_parameter(_whole('{"cmd": ["git", "commit", "-m", "Add a page"]}'))
    "git commit -m 'Add a page'"
    """
    decoded = _decoded(params)
    if isinstance(decoded, dict):
        written = {name: _command(name, value) for name, value in decoded.items()}
        texts = {name: value for name, value in written.items() if isinstance(value, str) and value.strip()}
    else:
        texts = _text_pairs(params.text)
    return next((texts[name] for name in _TELLING if name in texts), next(iter(texts.values()), ""))


def _command(name: str, value: object) -> object:
    """Return a command that is given as a list of words as a shell would write it; any other value as it is."""
    is_list = name in _COMMANDS and isinstance(value, list) and all(isinstance(word, str) for word in value)
    return shlex.join(value) if is_list and isinstance(value, list) else value


def readable_content(message: Message, content: Excerpt, view: View) -> Excerpt:
    """Return a prompt without the markup it begins with; in full, and of models, as it is."""
    if view.is_full or message.role == "assistant" or not content.is_whole:
        return content
    return _whole("\n".join(part for part in split_markup(content.text) if part) or content.text)


def readable_params(params: Excerpt) -> Excerpt:
    """Return all parameters, each with its name before it."""
    decoded = _decoded(params)
    if not isinstance(decoded, dict):
        return params
    return _whole("\n".join(f"{name}: {_text_of(_command(name, value))}" for name, value in decoded.items()))


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


def session_title(header: Header) -> str:
    """Say what a session is about, or which it is."""
    return one_line(header.title or header.label, _TITLE_CHARACTERS)


def session_facts(header: Header, zone: tzinfo) -> Iterator[str]:
    """Say what is known of a session, a line at a time."""
    origin = "" if header.label.startswith(f"{header.origin}:") else header.origin
    path = header.workspace_path or ""
    project = "" if path.endswith(header.project or "") else header.project
    yield " · ".join(place for place in (header.label, origin, project, path) if place)
    turns = counted(header.turns, "turn") + (f", {header.failed_turns} failed" if header.failed_turns else "")
    status = "" if header.status == "active" else header.status
    facts = [_period(header.created_at, header.updated_at, zone), turns, header.models, status]
    yield " · ".join(fact for fact in facts if fact)
    if header.tokens.total is not None:
        yield tokens_text(header.tokens)
    if costs := [cost for cost in (cost_text(header.cost), _subagents_text(header.subagent_cost)) if cost]:
        yield " · ".join(costs)
    if header.parent_session_label:
        yield f"spawned by {header.parent_session_label}"


def turn_facts(turn: Turn, zone: tzinfo) -> str:
    """Say what is known of a turn, on one line."""
    ended, began = turn.completed_at, turn.started_at
    duration = None if ended is None or began is None else ended - began
    facts = [
        local_time(turn.started_at, zone),
        turn.model,
        "" if turn.tokens.total is None else f"{short_count(turn.tokens.total)} tokens",
        _short_cost_text(turn.cost),
        short_duration(duration) if duration and duration > 0 else "",
        turn_trouble(turn),
    ]
    return " · ".join(fact for fact in facts if fact)


def turn_trouble(turn: Turn) -> str:
    """Say how a turn ended, unless it ended well."""
    words = [*(["interrupted"] if turn.is_interrupted else []), *([turn.status] if turn.status != "completed" else [])]
    return ", ".join(words)


def tokens_text(tokens: Tokens) -> str:
    """Say how many tokens there were, and of which kind."""
    kinds = {
        "in": tokens.input,
        "out": tokens.output,
        "from cache": tokens.cached_input,
        "to cache": tokens.cache_write,
    }
    parts = ", ".join(f"{short_count(count)} {kind}" for kind, count in kinds.items() if count is not None)
    return f"{short_count(tokens.total or 0)} tokens" + (f": {parts}" if parts else "")


def cost_text(cost: Cost) -> str:
    """Say what something cost at list price, the estimate where that is a lower bound, and how much has no price.

    >>> from decimal import Decimal
    >>> cost_text(Cost(Decimal("1.2"), Decimal("1.5"), 3))
    'at least $1.20, estimated $1.50, 3 requests without a price'
    """
    usd, estimate = (None if amount is None else dollars(amount) for amount in (cost.usd, cost.estimated_usd))
    is_bound = estimate not in (None, usd)
    unpriced = f"{counted(cost.unpriced_requests, 'request')} without a price" if cost.unpriced_requests else ""
    parts = [f"at least {usd}" if usd and is_bound else usd, f"estimated {estimate}" if is_bound else "", unpriced]
    return ", ".join(part for part in parts if part)


def _short_cost_text(cost: Cost) -> str:
    known = bounded_dollars(cost.usd, cost.estimated_usd, cost.unpriced_requests)
    return known or ("unpriced" if cost.unpriced_requests else "")


def _subagents_text(cost: Cost | None) -> str:
    text = "" if cost is None else cost_text(cost)
    return f"subagents {text}" if text else ""


def sender(message: Message) -> str:
    """Say who sent a message: its author where that is known, else nothing for the user and the assistant."""
    if message.author is not None:
        return one_line(message.author, _TELLING_CHARACTERS)
    if message.role == "user":
        return message.source if message.source not in (None, "human") else ""
    return "" if message.role == "assistant" else message.role


def tool_name(call: Call) -> str:
    """Name the tool of a call."""
    return one_line(call.tool_name, _TELLING_CHARACTERS)


def call_subject(call: Call, workspace: str | None) -> str:
    """Say what a call was about."""
    return one_line(_inside(telling_parameter(call.params), workspace), _TELLING_CHARACTERS)


def call_outcome(call: Call) -> str:
    """Say how a call ended."""
    duration = None if call.completed_at is None else call.completed_at - call.started_at
    took = short_duration(duration) if duration and duration > 0 else ""
    ended = "denied" if call.is_denied else "" if call.status == "completed" else call.status
    return ", ".join(part for part in (ended, took) if part)


def call_result(call: Call) -> Excerpt | None:
    """Return the readable result of a call; None for one that says nothing."""
    return None if call.result is None or call.result.text.strip() == "{}" else readable_result(call.result)


def readable_error(error: Excerpt) -> Excerpt:
    """Write an error that is only a code in the words of people.

    >>> readable_error(Excerpt("approval_denied", 15)).text, readable_error(Excerpt("No space left.", 14)).text
    ('denied by the policy', 'No space left.')
    """
    if not _CODE.fullmatch(error.text):
        return error
    text = in_words(error.text)
    return Excerpt(text, len(text))


def subagent_text(subagent: Subagent) -> str:
    """Name the session that was spawned."""
    return subagent.label + (f": {one_line(subagent.task, _TELLING_CHARACTERS)}" if subagent.task else "")


def files_text(files: tuple[File, ...], workspace: str | None) -> str:
    """Name files with their lines, by what happened to them."""
    shown = [
        f"{kind} {', '.join(_file_text(file, workspace) for file in group)}"
        for kind, group in groupby(files[:_FILES_SHOWN], key=lambda file: file.kind)
    ]
    more = [f"{len(files) - _FILES_SHOWN} more"] if len(files) > _FILES_SHOWN else []
    return "; ".join([*shown, *more])


def compaction_text(compaction: Compaction) -> str:
    """Say what a compaction did."""
    before, after = (
        "?" if count is None else short_count(count) for count in (compaction.tokens_before, compaction.tokens_after)
    )
    facts = [
        f"context compacted: {before} → {after} tokens",
        counted(compaction.turns_summarized, "turn") + " summarised" if compaction.turns_summarized else "",
        in_words(compaction.trigger) if compaction.trigger else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _period(start_ms: int | None, end_ms: int | None, zone: tzinfo) -> str:
    start, end = local_time(start_ms, zone), local_time(end_ms, zone)
    day = end.split(" ")[0]
    return start if start == end else f"{start} – {end.removeprefix(day).strip() if start.startswith(day) else end}"


def _file_text(file: File, workspace: str | None) -> str:
    lines = "" if file.line_start is None else f":{file.line_start}"
    if lines and file.line_end not in (None, file.line_start):
        lines += f"–{file.line_end}"
    return _inside(file.path, workspace) + lines


def _inside(path: str, workspace: str | None) -> str:
    return path.removeprefix(f"{workspace}/") if workspace else path

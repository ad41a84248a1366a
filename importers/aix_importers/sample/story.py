"""The story of the sample: sessions with their steps, from `story.toml`, and the clock that dates them."""

import json
import os
import tomllib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

_LAST_DAY = 20
"""The story runs from day 0 to this day."""
_NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
_LINES_OF_A_FILE = {
    "ts": 'import {{ settings }} from "./settings";\n\nexport function {name}(input: Input): Result {{\n'
    "  const found = lookUp(input.key, settings.store);\n  return found ?? notFound(input.key);\n}}\n",
    "tsx": 'import {{ Panel }} from "./Panel";\n\nexport function {name}({{ items }}: Props) {{\n'
    "  return <Panel>{{items.map((item) => <Row key={{item.id}} {{...item}} />)}}</Panel>;\n}}\n",
    "py": "from tides.settings import settings\n\n\ndef {name}(readings):\n"
    "    selected = [reading for reading in readings if reading.station == settings.station]\n"
    "    return sorted(selected, key=lambda reading: reading.taken_at)\n",
    "sql": "create table {name} (\n  id bigint primary key,\n  station text not null,\n  at timestamptz not null\n);\n",
    "md": "# {name}\n\nHow this part works, and how to run it on your machine.\n",
}

Step = Sequence[Any]
"""Kind of the step, and its arguments."""


@dataclass(frozen=True)
class Session:
    """One session of the story."""

    key: str
    tool: str
    project: str
    day: int
    at: str
    model: str
    title: str
    steps: Sequence[Step]
    branch: str = "main"
    mode: str = "default"
    context: int = 17_400
    """Tokens of the system prompt, the tools and the memory files."""
    is_final: bool = True
    """Whether the log has the final count of output tokens; older clients noted the first one."""
    fork: Sequence[Any] = ()
    """The session that this one was branched from, and how many of its prompts it keeps."""
    begins_at: datetime = field(default=datetime.min)

    @property
    def name(self) -> str:
        """The id of the session in its log."""
        return made_uuid(self.key)


class Story(NamedTuple):
    """The team, its sessions in the order in which they began, and its settings."""

    models: Mapping[str, str]
    """Names of models in logs, by their short names in the story."""
    projects: Mapping[str, str]
    """Folders, by name."""
    settings: Mapping[str, Any]
    programs: Sequence[Mapping[str, Any]]
    sessions: Sequence[Session]
    begins_at: datetime

    def of(self, tool: str) -> list[Session]:
        """Return the sessions of one tool."""
        return [session for session in self.sessions if session.tool == tool]


def read_story(end: date) -> Story:
    """Read the story, with its last day on `end`."""
    written = tomllib.loads((files(__package__) / "story.toml").read_text("utf-8"))
    first_day = datetime.combine(end - timedelta(days=_LAST_DAY), time(), UTC)
    sessions = [
        Session(**each, begins_at=first_day + timedelta(days=each["day"], minutes=minutes_of(each["at"])))
        for each in written["session"]
    ]
    sessions.sort(key=lambda session: session.begins_at)
    return Story(written["models"], written["projects"], written["settings"], written["programs"], sessions, first_day)


def minutes_of(clock: str) -> int:
    """Return the minutes since midnight.

    >>> minutes_of("09:30")
    570
    """
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes)


def made_uuid(*parts: object) -> str:
    """Return the same UUID for the same parts."""
    return str(uuid.uuid5(_NAMESPACE, "/".join(("aix-sample", *map(str, parts)))))


def made_id(prefix: str, *parts: object) -> str:
    """Return the same id for the same parts, in the form that vendors use."""
    return prefix + made_uuid(*parts).replace("-", "")[:22]


def stamp(moment: datetime) -> str:
    """Return a moment as logs write it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_dated(path: Path, text: str, moment: datetime) -> None:
    """Write a file, dated as the tool that writes it would have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    set_time(path, moment)


def set_time(path: Path, moment: datetime) -> None:
    """Date a file."""
    os.utime(path, (moment.timestamp(), moment.timestamp()))


def json_lines(values: Iterable[object], separators: tuple[str, str] | None = None) -> str:
    """Return values as JSON, one on each line."""
    return "".join(f"{json.dumps(value, ensure_ascii=False, separators=separators)}\n" for value in values)


def file_text(path: str) -> str:
    """Return the invented content of a source file.

    >>> print(file_text("docs/deploy.md").splitlines()[0])
    # deploy
    """
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    name = stem.replace("-", "_").replace(".", "_") or suffix
    return _LINES_OF_A_FILE.get(suffix, "{name}\n").format(name=name)

"""The personas that a file describes, and the sessions that it gives them to.

[personas.builder]
name = "Builder"
model = "big-model"
tools.deny = ["Bash(rm *)"]

[[mappings]]
persona = "builder"
workspace = "~/work/website"
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import msgspec

from aix.errors import PersonasFileError, nearest_names
from aix.file_problems import in_plain_words

_LARGEST_FILE = 2**20
_REMEDY = "docs/personas.md shows what such a file can say"
_RULE = re.compile(r"[^()\s][^()]*(\(.*\))?", re.DOTALL)
_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ABSOLUTE = re.compile(r"[/\\]|~(?:[/\\]|$)|[A-Za-z]:[/\\]")
_MOST_ENTRIES = 5_000
"""Each rule is held against all others when what personas gain is found."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
WORKSPACE = "workspace"
"""In a sandbox: the folder of the workspace, whichever it is."""

# Without a pattern: with one here, msgspec 0.22 ends the process by a segmentation fault when Python exits.
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
_List = tuple[_Text, ...] | None


_Table = TypeVar("_Table", "Persona", "Mapped")


class _Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file."""


class Tools(_Fields, frozen=True):
    """Rules on tools, in the words that the settings of the tool use."""

    allow: _List = None
    """The only calls that are allowed; None allows all that is not denied."""
    ask: _List = None
    deny: _List = None


class Sandbox(_Fields, frozen=True):
    """Places that may be reached; None sets no bound."""

    read: _List = None
    write: _List = None
    hosts: _List = None


class Persona(_Fields, frozen=True):
    """An identity, what it may do, and how it thinks by default."""

    name: _Name | None = None
    soul: _Text | None = None
    emoji: _Name | None = None
    model: _Name | None = None
    thinking: _Name | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1, lt=2**53)] | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    main: _Name | None = None
    """The label or an alias of its main session."""
    tools: Tools = Tools()
    sandbox: Sandbox = Sandbox()
    credentials: _List = None

    @property
    def lists(self) -> dict[str, Sequence[str]]:
        """The entries of each list, by `persona_permissions.kind`; a list that is missing sets no bound."""
        given = {
            "allow": self.tools.allow,
            "ask": self.tools.ask,
            "deny": self.tools.deny,
            "credential": self.credentials,
            "read": self.sandbox.read,
            "write": self.sandbox.write,
            "host": self.sandbox.hosts,
        }
        return {kind: listed for kind, listed in given.items() if listed is not None}


_OneOrMore = _Name | Annotated[tuple[_Name, ...], msgspec.Meta(min_length=1)]


class Mapped(_Fields, frozen=True):
    """Sessions that a persona is given to: those that fit all that is said."""

    persona: _Name
    origin: _OneOrMore | None = None
    workspace: _OneOrMore | None = None
    agent: _OneOrMore | None = None

    @property
    def combinations(self) -> int:
        """How many rows there are."""
        return len(_each(self.origin)) * len(_each(self.workspace)) * len(_each(self.agent))

    def rows(self) -> list[tuple[str | None, str | None, str | None]]:
        """Return each combination of an origin, a workspace and an agent."""
        return list(product(_each(self.origin), map(_folder, _each(self.workspace)), _each(self.agent)))


class PersonaBook(msgspec.Struct, frozen=True):
    """All personas of a file by id, the mappings in their order, and a digest of what both are from."""

    digest: str | None = None
    """None where there is no file."""
    personas: Mapping[str, Persona] = {}
    mappings: Sequence[Mapped] = ()


def read_personas(path: Path | None) -> PersonaBook:
    """Read a file of personas, or raise an error that says what in it cannot be meant, and where."""
    if path is None:
        return PersonaBook()
    import tomllib  # takes a while, and most have no such file

    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        advice = "check `personas` in config.toml and AIX_PERSONAS"
        raise PersonasFileError(str(path), error.strerror or str(error), advice) from error
    if len(content) > _LARGEST_FILE:
        _refuse(path, f"it is larger than {_LARGEST_FILE // 2**20} MiB")
    try:
        tables = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        _refuse(path, f"this is not TOML in UTF-8: {error}")
    if any(_CONTROL.search(text) for text in _texts(tables)):
        _refuse(path, "a text in it has control characters")
    for key in tables.keys() - {"personas", "mappings"}:
        _refuse(path, f"there is no setting {key!r}; use [personas.ID] and [[mappings]]")
    described, mapped = tables.get("personas", {}), tables.get("mappings", [])
    if not isinstance(described, dict) or not isinstance(mapped, list):
        _refuse(path, "write personas as [personas.ID], and mappings as [[mappings]]")
    personas = {name: _convert(path, f"persona {name!r}", table, Persona) for name, table in described.items()}
    for name, persona in personas.items():
        _check(path, name, persona)
    mappings = [_convert(path, f"mapping {number}", table, Mapped) for number, table in enumerate(mapped, 1)]
    for number, mapping in enumerate(mappings, 1):
        if mapping.persona not in personas:
            nearest = nearest_names(mapping.persona, personas, 1)
            meant = f"; did you mean {nearest[0]}?" if nearest else ""
            _refuse(path, f"mapping {number}: the persona {mapping.persona!r} is not described{meant}")
        if mapping.origin is mapping.workspace is mapping.agent is None:
            _refuse(path, f"mapping {number}: it fits every session; give it an origin, a workspace or an agent")
        for folder in filter(None, _each(mapping.workspace)):
            if not _is_absolute(folder):
                _refuse(path, f"mapping {number}: the workspace {folder[:100]!r} must be an absolute path")
    entries = sum(len(listed) for persona in personas.values() for listed in persona.lists.values())
    combinations = sum(mapping.combinations for mapping in mappings)
    if max(entries, combinations) > _MOST_ENTRIES:
        _refuse(path, f"its lists, or its mappings, have more than {_MOST_ENTRIES:,} entries")
    home = str(Path.home()) if b"~" in content else ""  # another home makes other folders of the same file
    return PersonaBook(sha256(b"%b\0%b" % (content, home.encode())).hexdigest(), personas, mappings)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from (key, *_texts(each))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _check(path: Path, name: str, persona: Persona) -> None:
    if not name.isprintable() or name != name.strip():
        _refuse(path, f"the id {name!r} of a persona must be a name on one line")
    for kind in ("allow", "ask", "deny"):
        for rule in persona.lists.get(kind, ()):
            if not is_rule(rule):
                _refuse(path, f"{rule[:100]!r} in {kind} of {name} is no rule; write Tool or Tool(specifier)")
    for kind in ("read", "write"):
        for folder in persona.lists.get(kind, ()):
            if folder != WORKSPACE and not _is_absolute(folder):
                _refuse(path, f"{folder[:100]!r} in sandbox.{kind} of {name} must be `{WORKSPACE}` or an absolute path")
    for kind, form, wanted in (
        ("host", _HOST, "shop.example or *.shop.example"),
        ("credential", _VARIABLE, "SHOP_TOKEN"),
    ):
        for entry in persona.lists.get(kind, ()):
            if not form.fullmatch(entry.strip()):
                _refuse(path, f"{entry[:100]!r} of {name} is no {kind}; write {wanted}")


def is_rule(text: str) -> bool:
    """Whether a text has the form of a rule on a tool.

    >>> is_rule("Bash(rm *)"), is_rule("Bash(rm")
    (True, False)
    """
    return _RULE.fullmatch(text.strip()) is not None


def _is_absolute(folder: str) -> bool:
    return _ABSOLUTE.match(folder) is not None and ".." not in re.split(r"[/\\]", folder)


def _folder(written: str | None) -> str | None:
    """Return a folder as the ledger writes those that are compared: with slashes, and none at the end."""
    return None if written is None else folder_of(written)


def folder_of(written: str) -> str:
    r"""Return a folder with `~` written out, slashes, and none at the end.

    >>> folder_of("c:\\work\\")
    'C:/work'
    """
    try:
        whole = str(Path(written).expanduser()) if written.startswith("~") else written
    except RuntimeError:
        whole = written
    plain = whole.replace("\\", "/").rstrip("/") or "/"
    return plain[:1].upper() + plain[1:] if plain[1:2] == ":" else plain


def _each(given: str | tuple[str, ...] | None) -> tuple[str | None, ...]:
    return (given,) if given is None or isinstance(given, str) else given


def _convert(path: Path, place: str, table: object, form: type[_Table]) -> _Table:
    try:
        return msgspec.convert(table, form)
    except msgspec.ValidationError as error:
        known = [name for form in (Persona, Tools, Sandbox, Mapped) for name in form.__struct_fields__]
        _refuse(path, f"{place}: {in_plain_words(str(error), known)}")


def _refuse(path: Path, problem: str) -> NoReturn:
    raise PersonasFileError(str(path), problem, _REMEDY)

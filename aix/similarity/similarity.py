"""Turns, sessions and programs that are like a text or like another of them, the most similar first."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Protocol

from aix.search.texts import input_text
from aix.similarity.features import features_of, forms_of
from aix.similarity.space import Nearest, Vector, VectorSpace
from aix.similarity.texts import MOST_CHARACTERS, PROGRAMS, TURNS, Part
from aix.similarity.vectors import VectorFile
from aix.store.cache_files import make_missing

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

DEFAULT_LIMIT = 10
_FIRST_CONFIRMED = 20
"""Of the nearest, their texts are looked into at once."""
_LEAST = 0.01
"""Of a similarity that is shown: two texts have some frequent word in common nearly always."""
_OWNERS = "select turn_id, session_label from v_turn_owner"
_OWN_TURNS = "select turn_id from v_turn_owner where session_label = $label"
_ALL_TURNS = "select turn_id from v_session_turns where session_label = $label"
_OWNER = "select session_label from v_turn_owner where turn_id = $turn"
_PROGRAM_IDS = "select id from programs where program_type = 'information' or not $is_information"
_PROMPTS = """
    select turn_id, content as prompt
    from messages
    where role = 'user' and trim(content) <> '' and turn_id in (select unnest($keys))
    qualify row_number() over (partition by turn_id order by coalesce(source, '') = 'event', sequence, id) = 1
"""
_TURN_FACTS = f"""
    select t.id as key, t.id as turn_id, o.session_label, n.title, p.prompt as text, s.origin, t.model,
      w.project, case when i.row_key is null then t.started_at end as at
    from turns t
    left join v_turn_owner o on o.turn_id = t.id
    left join sessions s on s.label = o.session_label
    left join v_session_titles n on n.session_label = o.session_label
    left join v_counted_turns w on w.turn_id = t.id
    left join ({_PROMPTS}) p on p.turn_id = t.id
    left join inferred_values i
      on i.table_name = 'turns' and i.row_key = t.id and i.column_name = 'started_at' and i.basis = 'undated'
    where t.id in (select unnest($keys))
"""  # noqa: S608 - made of the text above
_SESSION_FACTS = """
    select s.label as key, s.label as session_label, n.title, s.origin, c.project,
      (select count(*) from v_turn_owner o where o.session_label = s.label) as turns,
      case when i.row_key is null then s.created_at end as at
    from sessions s
    left join session_context c on c.label = s.label
    left join v_session_titles n on n.session_label = s.label
    left join inferred_values i
      on i.table_name = 'sessions' and i.row_key = s.label and i.column_name = 'created_at' and i.basis = 'undated'
    where s.label in (select unnest($keys))
"""
_PROGRAM_FACTS = """
    select id as key, id as program_id, program_type, lifecycle as state, updated_at as at,
      coalesce(config_json ->> '$.name', config_json ->> '$.title', config_json ->> '$.content.text',
        config_json ->> '$.content', config_json ->> '$.description') as text
    from programs
    where id in (select unnest($keys))
"""


_TEXTS_OF_TURNS = """
    select turn_id, left(content, $characters) as text
    from messages
    where turn_id in (select unnest($keys)) and role in ('user', 'assistant') and content is not null
    union all
    select turn_id, left(thinking, $characters)
    from messages
    where turn_id in (select unnest($keys)) and thinking is not null
    union all
    select turn_id, left(summary, $characters)
    from compactions
    where turn_id in (select unnest($keys)) and summary is not null
    union all
    select m.turn_id, f.file_path
    from message_files f
    join messages m on m.id = f.message_id
    where m.turn_id in (select unnest($keys))
    union all
    select distinct turn_id, tool_name from tool_calls where turn_id in (select unnest($keys))
"""
"""The texts that make the vectors of turns, as `aix.similarity.texts` reads them."""
_TEXTS_OF_PROGRAMS = "select id, config_json from programs where id in (select unnest($keys))"


class Among(StrEnum):
    """The kinds of things that are compared."""

    TURNS = "turns"
    SESSIONS = "sessions"
    PROGRAMS = "programs"
    INFORMATION = "information"


_FACTS = {
    Among.TURNS: _TURN_FACTS,
    Among.SESSIONS: _SESSION_FACTS,
    Among.PROGRAMS: _PROGRAM_FACTS,
    Among.INFORMATION: _PROGRAM_FACTS,
}


@dataclass(frozen=True)
class Like:
    """Something to compare with: a text, or the row of a table (turns, sessions or programs) with a key."""

    text: str | None = None
    table: str | None = None
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class SimilarRequest:
    """A question about similarity; a condition that is None or empty holds for all."""

    like: Like
    among: Among
    since_ms: int | None = None
    """Only turns that began at that moment or later, and sessions with such a turn."""
    until_ms: int | None = None
    """Only turns that began before that moment, and sessions with such a turn."""
    narrowed: Mapping[str, object] = field(default_factory=dict)
    """Parameters of `queries/views/v_counted_turns.sql`, such as project, origin, model and tag."""

    @property
    def is_narrowed(self) -> bool:
        """Whether only some turns and sessions are asked for."""
        return bool(self.narrowed) or self.since_ms is not None or self.until_ms is not None


@dataclass(frozen=True)
class Similar:
    """Something that is similar, and what is known of it."""

    key: str
    similarity: float
    facts: Mapping[str, Any]


class Comparison(Protocol):
    """A way to compare: with the vectors that AIX makes, or those of a user's own command."""

    def nearest(self, like: Like, among: Among) -> Nearest:
        """Go through the keys of what is compared with their similarities, the greatest first."""

    def confirmed(self, near: Nearest, like: Like, among: Among) -> Nearest:
        """Leave out what only seems to be near."""


def find_similar(
    ledger: "Ledger", request: SimilarRequest, comparison: Comparison, limit: int = DEFAULT_LIMIT
) -> list[Similar]:
    """Return what is most similar, without the thing itself."""
    is_wanted = _condition(ledger, request)
    near = takewhile(lambda each: each[1] >= _LEAST, comparison.nearest(request.like, request.among))
    wanted_ones = (each for each in near if is_wanted(each[0]))
    found = list(islice(comparison.confirmed(wanted_ones, request.like, request.among), limit))
    if not found:
        return []
    wanted = {"keys": [key for key, _ in found]}
    facts = {row["key"]: row for row in ledger.own_sql(_FACTS[request.among], wanted).dicts()}
    return [Similar(key, similarity, facts[key]) for key, similarity in found if key in facts]


def count_programs(ledger: "Ledger", among: Among) -> int:
    """Count the programs that others can be compared with."""
    return len(ledger.own_sql(_PROGRAM_IDS, {"is_information": among is Among.INFORMATION}).rows())


def _condition(ledger: "Ledger", request: SimilarRequest) -> Callable[[str], bool]:
    """Return a test of the keys that are asked for."""
    left_out = _itself(ledger, request.like, request.among)
    if request.among in (Among.PROGRAMS, Among.INFORMATION):
        wanted = {"is_information": request.among is Among.INFORMATION}
        known = {key for (key,) in ledger.own_sql(_PROGRAM_IDS, wanted)}
        return lambda key: key in known and key not in left_out
    if not request.is_narrowed:
        return lambda key: key not in left_out
    counted = ledger.turns_counted(request.since_ms, request.until_ms, **request.narrowed)
    turns = {turn for (turn,) in counted}
    if request.among is Among.TURNS:
        return lambda key: key in turns and key not in left_out
    sessions = {label for turn, label in ledger.own_sql(_OWNERS) if turn in turns}
    return lambda key: key in sessions and key not in left_out


def _itself(ledger: "Ledger", like: Like, among: Among) -> Collection[str]:
    """Return what is left out: the thing itself, the turns of the session itself, the session of the turn itself."""
    if like.key is None:
        return ()
    if (like.table, among) == ("sessions", Among.TURNS):
        return own_turns(ledger, like.key)
    if (like.table, among) == (TURNS, Among.SESSIONS):
        return {label for (label,) in ledger.own_sql(_OWNER, {"turn": like.key})}
    is_same_kind = like.table == (PROGRAMS if among is Among.INFORMATION else among)
    return {like.key} if is_same_kind else ()


def own_turns(ledger: "Ledger", label: str) -> set[str]:
    """Return the turns that count for a session; of one whose turns all count for others, all of them."""
    for turns in (_OWN_TURNS, _ALL_TURNS):
        if found := {turn for (turn,) in ledger.own_sql(turns, {"label": label})}:
            return found
    return set()


def owners(ledger: "Ledger") -> dict[str, str]:
    """Return the session that each turn counts for."""
    return dict(ledger.own_sql(_OWNERS).rows())


class WordComparison:
    """Compares by the words that texts have in common, with the vectors that AIX makes itself."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._spaces: dict[str, VectorSpace] = {}
        make_missing(VectorFile.all_of(ledger.path, ledger.manifest))

    def nearest(self, like: Like, among: Among) -> Nearest:
        """Go through what has a word in common, by its cosine."""
        space = self._space(PROGRAMS if among in (Among.PROGRAMS, Among.INFORMATION) else TURNS)
        vector = self._vector(like)
        if among is Among.SESSIONS:
            return space.nearest_sums(vector, owners(self._ledger))
        return space.nearest(vector)

    def confirmed(self, near: Nearest, like: Like, among: Among) -> Nearest:
        """Leave out what has no word of a text: different words may count in the same place of a vector."""
        if like.text is None:
            yield from near
            return
        forms = forms_of(like.text)
        size = _FIRST_CONFIRMED
        while batch := list(islice(near, size)):
            having = self._having(forms, [key for key, _ in batch], among)
            yield from (each for each in batch if each[0] in having)
            size *= 4  # a frequent place may have thousands of turns, none of which has the word

    def has_words_of(self, like: Like, among: Among) -> bool:
        """Whether anything at all has a word of a text, however little that says."""
        return any(True for _ in self.confirmed(self.nearest(like, among), like, among))

    def _having(self, forms: set[str], keys: Sequence[str], among: Among) -> set[str]:
        """Return those of the keys whose texts have one of these forms of words."""
        if among in (Among.PROGRAMS, Among.INFORMATION):
            texts = self._ledger.own_sql(_TEXTS_OF_PROGRAMS, {"keys": keys})
            return {key for key, config in texts if forms & forms_of(f"{key}\n{input_text(config or '')}")}
        names = dict(zip(keys, keys, strict=True))
        if among is Among.SESSIONS:
            wanted = set(keys)
            names = {turn: label for turn, label in owners(self._ledger).items() if label in wanted}
        asked = {"keys": list(names), "characters": MOST_CHARACTERS}
        having: set[str] = set()
        for turn, text in self._ledger.own_sql(_TEXTS_OF_TURNS, asked):
            if names[turn] not in having and forms & forms_of(text):
                having.add(names[turn])
        return having

    def _vector(self, like: Like) -> Vector:
        if like.text is not None:
            return features_of([(Part.PROMPT, like.text)])
        if like.table == "sessions":
            return self._space(TURNS).sum_of(own_turns(self._ledger, like.key or ""))
        return self._space(like.table or TURNS).sum_of([like.key or ""])

    def _space(self, table: str) -> VectorSpace:
        """Return the vectors of a table, which are read once."""
        if table not in self._spaces:
            files = VectorFile.all_of(self._ledger.path, self._ledger.manifest)
            self._spaces[table] = VectorSpace([part for file in files for part in file.read(table)])
        return self._spaces[table]

"""Vectors of a user's own command for turns and programs, and comparisons with them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum, hypot
from typing import TYPE_CHECKING

from aix.errors import EmbeddingError, UnknownEmbeddingError
from aix.similarity.embedding_command import EmbeddingCommand, Vector
from aix.similarity.similarity import Among, Like, own_turns
from aix.similarity.space import Nearest
from aix.similarity.texts import PROGRAMS, TURNS, GroupTexts, Part, Texts
from aix.store.manifest import groups_of

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

COMMIT_VECTORS = 2_000
"""How many vectors are stored in one commit: what was stored before an error stays."""
MOST_CHARACTERS = 8_000
"""The characters of a turn or program that a command gets."""
_LEFT_OUT_PARTS = (Part.THINKING, Part.TOOL)
_SEPARATOR = "/"
"""Between the table and the key in an id that a command gets."""
_QUERY = "query"
_MODELS = "select distinct model from embeddings order by 1"
_DIMENSION = "select max(dim) from embeddings where model = $model"
_HAVING = "select entity_type, entity_id from embeddings where model = $model"
_TURNS = "select id, status in ('pending', 'streaming') from turns"
_PROGRAMS = "select id from programs"
_VECTORS = """
    select vec from embeddings
    where model = $model and entity_type = $table and entity_id in (select unnest($keys))
"""
_NEAREST = """
    select entity_id, cast(round(list_cosine_similarity(vec, cast($vector as float[])), 6) as double) as cosine
    from embeddings
    where model = $model and entity_type = $table and dim = $dimension
    order by cosine desc, entity_id
"""
_NEAREST_SESSIONS = """
    with own_vector as (
      select o.session_label, e.vec, sqrt(list_dot_product(e.vec, e.vec)) as length
      from embeddings e
      join v_turn_owner o on o.turn_id = e.entity_id
      where e.model = $model and e.entity_type = 'turns' and e.dim = $dimension
    ),
    number as (
      select session_label, unnest(vec) / length as value, generate_subscripts(vec, 1) as place from own_vector
    ),
    summed as (select session_label, place, sum(value) as value from number group by all),
    session_vector as (select session_label, list(value order by place) as vec from summed group by session_label)
    select session_label, round(list_cosine_similarity(vec, cast($vector as double[])), 6) as cosine
    from session_vector
    order by cosine desc, session_label
"""
Change = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class EmbeddingRequest:
    """A wish for vectors of a model; a condition that is None or empty holds for all turns."""

    model: str
    tables: frozenset[str] = frozenset((TURNS, PROGRAMS))
    is_again: bool = False
    """Also what has a vector of the model."""
    since_ms: int | None = None
    until_ms: int | None = None
    narrowed: Mapping[str, object] = field(default_factory=dict)
    """Parameters of `queries/views/v_counted_turns.sql`."""


@dataclass(frozen=True)
class EmbeddingPlan:
    """Turns and programs that get a vector."""

    model: str
    wanted: frozenset[tuple[str, str]]
    """Turns and programs, each by its table and key."""
    unanswered: int
    """How many turns are left out because their answer is not whole yet."""
    dimension: int | None
    """Of the vectors that the model has given so far."""


def plan_embedding(ledger: "Ledger", request: EmbeddingRequest) -> EmbeddingPlan:
    """Return what is to get a vector, and has none yet."""
    model = {"model": request.model}
    having = set() if request.is_again else set(ledger.sql(_HAVING, model).rows())
    wanted: set[tuple[str, str]] = set()
    unanswered = 0
    if TURNS in request.tables:
        counted = {turn for (turn,) in ledger.turns_counted(request.since_ms, request.until_ms, **request.narrowed)}
        for turn_id, is_unanswered in ledger.sql(_TURNS):
            if turn_id in counted and (TURNS, turn_id) not in having:
                unanswered += is_unanswered
                if not is_unanswered:
                    wanted.add((TURNS, turn_id))
    if PROGRAMS in request.tables:
        wanted |= {(PROGRAMS, key) for (key,) in ledger.sql(_PROGRAMS)} - having
    [(dimension,)] = ledger.sql(_DIMENSION, model)
    return EmbeddingPlan(request.model, frozenset(wanted), unanswered, dimension)


def texts_to_embed(ledger: "Ledger", plan: EmbeddingPlan, change: Change = str) -> Iterator[tuple[str, str]]:
    """Go through the texts of what gets a vector, each with the id that the command is given; empty ones are left out.

    `change` is applied to each text before it is cut, so that a redactor sees it whole.
    """
    for files in groups_of(ledger.manifest.tables).values() if plan.wanted else ():
        texts = GroupTexts(ledger.path, files, plan.wanted, None)
        for _ in texts.read():
            pass
        for each in texts.found:
            if text := text_to_embed(each, change):
                yield f"{each.table}{_SEPARATOR}{each.key}", text[:MOST_CHARACTERS]


def text_to_embed(texts: Texts, change: Change = str) -> str:
    """Return the text that a vector stands for: prompt, summary, paths of files and answer."""
    parts = (change(text).strip() for part, text in texts.pieces() if part not in _LEFT_OUT_PARTS)
    return "\n\n".join(text for text in parts if text)


def embed(
    ledger: "Ledger",
    plan: EmbeddingPlan,
    command: EmbeddingCommand,
    change: Change = str,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Run the command over the texts, store the vectors in commits of some thousands, and return their number.

    Whatever ends it early, vectors that the command has given are stored: it goes on from there when it is run again.
    """
    from aix.merge.embeddings import Embedding, add_embeddings
    from aix.merge.tagging import Entity

    waiting: list[Embedding] = []
    stored = 0
    try:
        for key, vector in command.vectors(texts_to_embed(ledger, plan, change), plan.dimension):
            table, _, entity = key.partition(_SEPARATOR)
            waiting.append((Entity(table, entity), vector))
            progress(1)
            if len(waiting) == COMMIT_VECTORS:
                stored += add_embeddings(ledger.path, plan.model, waiting)
                waiting = []
    finally:
        if waiting:
            stored += add_embeddings(ledger.path, plan.model, waiting)
    return stored


class EmbeddingComparison:
    """Compares with the vectors that a command of the user's has given, all of one model."""

    def __init__(self, ledger: "Ledger", model: str, command: EmbeddingCommand | None, change: Change = str) -> None:
        known = tuple(name for (name,) in ledger.sql(_MODELS))
        if model not in known:
            raise UnknownEmbeddingError(model, known)
        self._ledger = ledger
        self._model = model
        self._command = command
        self._change = change
        [(self._dimension,)] = ledger.sql(_DIMENSION, {"model": model})

    def nearest(self, like: Like, among: Among) -> Nearest:
        """Go through what has a vector of the model, by its cosine."""
        vector = self._vector(like)
        if vector is None:
            return
        asked = {"model": self._model, "vector": vector, "dimension": self._dimension}
        if among is Among.SESSIONS:
            yield from self._ledger.sql(_NEAREST_SESSIONS, asked)
        else:
            yield from self._ledger.sql(_NEAREST, asked | {"table": TURNS if among is Among.TURNS else PROGRAMS})

    def confirmed(self, near: Nearest, like: Like, among: Among) -> Nearest:  # noqa: ARG002 - as all comparisons
        """Give all of them: nothing that a model makes can be looked up in the texts."""
        return near

    def _vector(self, like: Like) -> Vector | None:
        """Return the vector of a text, of a turn or program, or the sum of those of a session; None without any."""
        if like.text is not None:
            if self._command is None:
                raise EmbeddingError(
                    self._model, "a text needs the command that makes its vectors", "name it with --command COMMAND"
                )
            texts = [(_QUERY, self._change(like.text)[:MOST_CHARACTERS])]
            [(_, vector)] = self._command.vectors(texts, self._dimension)
            return vector
        keys = own_turns(self._ledger, like.key or "") if like.table == "sessions" else [like.key]
        table = PROGRAMS if like.table == PROGRAMS else TURNS
        rows = self._ledger.sql(_VECTORS, {"model": self._model, "table": table, "keys": list(keys)}).rows()
        vectors = [vec for (vec,) in rows if len(vec) == self._dimension]
        return [fsum(numbers) for numbers in zip(*map(_of_length_one, vectors), strict=True)] if vectors else None


def _of_length_one(vector: Vector) -> Vector:
    length = hypot(*vector)
    return [number / length for number in vector] if length else vector

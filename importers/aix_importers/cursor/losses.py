"""Records of a database that belong to no conversation that can be read: each is counted, and becomes a problem."""

from collections.abc import Iterator
from typing import NamedTuple

from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.keys import BUBBLE_PREFIX, COMPOSER_PREFIX


class Loss(NamedTuple):
    """Something in a database that was not read."""

    kind: str
    reason: str
    sample: str | None = None


def losses(values: KeyValues) -> Iterator[Loss]:
    """Go through everything in a database that no source of a conversation accounts for."""
    if values.database.schema_error:
        reason = (
            f"The schema is damaged: {values.database.schema_error}. Tables that it no longer defines were not read."
        )
        yield Loss("damaged", reason)
    yield from _orphans(values)


def _orphans(values: KeyValues) -> Iterator[Loss]:
    """Name the bubbles whose conversation is gone."""
    listed = ((owner.decode("utf-8", "surrogateescape"), number) for owner, number, _ in values.owners(BUBBLE_PREFIX))
    owners = {owner: number for owner, number in listed if not owner.startswith("task-")}
    composers = {
        key[len(COMPOSER_PREFIX) :].decode("utf-8", "surrogateescape") for key, _ in values.keys(COMPOSER_PREFIX)
    }
    for owner in sorted(owners.keys() - composers):
        reason = f"Left out, since their conversation is gone: {owners[owner]} bubbles."
        yield Loss("orphan_bubbles", reason, owner)

"""How an error of AIX is declared; `aix/errors.py` has all of them.

A kind of error has a template of its message, one of its remedy, and an exit code. It declares its values as a
dataclass does, and type checkers check them so; they are its only arguments and stay its attributes. `args` is left as
Python sets it, so every error survives pickling between processes.
"""

from collections.abc import Iterable
from typing import ClassVar, dataclass_transform


def nearest_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that somebody may have meant by another.

    >>> nearest_names("sesions", ["turns", "sessions"])
    ['sessions']
    """
    from difflib import get_close_matches

    return get_close_matches(name, list(known), n=most)


def did_you_mean(nearest: list[str]) -> str:
    """Ask whether one of these names was meant; without names, ask nothing."""
    return f"did you mean {' or '.join(nearest)}? " if nearest else ""


@dataclass_transform(eq_default=False)
class AixError(Exception):
    """The root of the tree: catch it to catch everything AIX raises on purpose."""

    template: ClassVar[str] = ""
    remedy_template: ClassVar[str] = ""
    exit_code: ClassVar[int] = 1
    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        if "__init__" not in vars(cls):
            cls._fields = (*cls._fields, *cls.__annotations__)

    def __init__(self, *values: object, **named: object) -> None:
        if not self._fields:
            self._message = "".join(map(str, values))
            return
        given = dict(zip(self._fields, values, strict=False)) | named
        if len(values) + len(named) != len(self._fields) or given.keys() != set(self._fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
        vars(self).update(given)
        if named:
            self.args = tuple(given[name] for name in self._fields)

    def __str__(self) -> str:
        return self.template.format_map(vars(self)) if self.template else self._message

    @property
    def remedy(self) -> str:
        """The remedy for the user; empty when the message says it all."""
        return self._remedy()

    def _remedy(self) -> str:
        return self.remedy_template.format_map(vars(self))

"""One message, wherever it was kept: what was said and done in it."""

from dataclasses import dataclass, field

from aix_importers.cursor.calls import Call
from aix_importers.cursor.code import Code
from aix_importers.cursor.files import FileUse, files_of_call, path_of
from aix_importers.cursor.lints import Lint, lints_of_result


@dataclass(slots=True)
class Said:
    """A message, and what hangs on it."""

    role: str
    content: str | None = None
    thinking: str | None = None
    context: dict[str, object] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    calls: list[tuple[str, Call]] = field(default_factory=list)
    """Each with its id."""
    files: list[FileUse] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)
    tokens: tuple[int | None, int | None] = (None, None)
    request_id: str | None = None
    is_error: bool = False
    are_outcomes_inferred: bool = False
    """Whether the log keeps no results, so that how the calls ended is concluded from what follows."""

    def take_call(self, call_id: str, call: Call) -> None:
        """Add a call with the files and findings that it brought."""
        self.calls.append((call_id, call))
        self.is_error = self.is_error or call.is_cancelled
        if call.is_completed:
            self.files += files_of_call(call.name, call.number, call.details, call.found)
            self.lints += lints_of_result(call.found, path_of(call.details))

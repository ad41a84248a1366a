"""Parameters and results of calls, as far as files and lints are concerned."""

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import Decoder

from aix_importers.cursor.values import ABSENT, read


class Params(Struct, rename="camel", gc=False):
    """Parameters of a tool that works on a file."""

    relative_workspace_path: Raw = ABSENT
    target_file: Raw = ABSENT
    effective_uri: Raw = ABSENT
    file_path: Raw = ABSENT
    path: Raw = ABSENT
    start_line_one_indexed: Raw = ABSENT
    end_line_one_indexed_inclusive: Raw = ABSENT
    read_entire_file: Raw = ABSENT
    offset: Raw = ABSENT
    limit: Raw = ABSENT


class Result(Struct, rename="camel", gc=False):
    """Result of a call of such a tool."""

    contents: Raw = ABSENT
    start_line_one_indexed: Raw = ABSENT
    end_line_one_indexed_inclusive: Raw = ABSENT
    total_lines_in_file: Raw = ABSENT
    diff: Raw = ABSENT
    success: Raw = ABSENT
    directories: Raw = ABSENT
    code_results: Raw = ABSENT
    linter_errors: Raw = ABSENT
    linter_errors_by_file: Raw = ABSENT
    rejected: Raw = ABSENT
    path: Raw = ABSENT


_PARAMS = Decoder(Params)
_RESULT = Decoder(Result)


def read_params(data: bytes | Raw) -> Params:
    """Return parameters; none at all where the data is no object."""
    return read(_PARAMS, data) or Params()


def decode_result(written: str) -> Result | None:
    """Return a result that is a JSON object in every detail; nothing where it is not."""
    try:
        return _RESULT.decode(written)
    except (MsgspecError, ValueError, RecursionError):
        return None


def read_result(data: bytes | Raw) -> Result:
    """Return a result; an empty one where the data is no object."""
    return read(_RESULT, data) or Result()

"""Files that turns touched, by the paths that people type."""

from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import AmbiguousFileError, UnknownFileError

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_FILES = r"""
    with file as (
      select replace(file_path, '\', '/') as path from message_files
      union
      select replace(target, '\', '/') from call_targets
      where class = 'exec' and kind = 'path' and access in ('read', 'write') and outcome = 'ran'
    )
"""
_MATCHING = f"""
    {_FILES}
    select path from file
    where path = $1 or ends_with(path, case when starts_with($1, '/') then $1 else '/' || $1 end)
    order by path
"""  # noqa: S608 - made of the text above
_NEAR = f"""
    {_FILES}
    select path from file
    where jaro_winkler_similarity(lower(regexp_extract(path, '[^/]*$')), lower($1)) > 0.9
    order by jaro_winkler_similarity(lower(regexp_extract(path, '[^/]*$')), lower($1)) desc, path
    limit 3
"""  # noqa: S608


def find_files(ledger: "Ledger", name: str, *, here: Path) -> tuple[str, ...]:
    """Return the paths of the files that a path means: the whole path alone, else all that end with it at a slash.

    Of several the one in the folder `here` is meant, if it is among them. Backslashes are slashes.
    """
    path = plain_path(name)
    found = [each for (each,) in ledger.own_sql(_MATCHING, [path]).rows()] if path.strip("/") else []
    if not found:
        near = ledger.own_sql(_NEAR, [path.rpartition("/")[2]]).rows()
        raise UnknownFileError(name, tuple(each for (each,) in near))
    local = (here / path).as_posix()
    whole = [each for each in (path, local) if each in found]
    return tuple(whole[:1] or found)


def plain_path(name: str) -> str:
    r"""Return a path with slashes, as files are compared by it.

    >>> plain_path("./src/a.py"), plain_path("src\\a.py")
    ('src/a.py', 'src/a.py')
    """
    path = name.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def find_file(ledger: "Ledger", name: str, *, here: Path) -> str:
    """Return the path of the only file that a path means."""
    found = find_files(ledger, name, here=here)
    if len(found) > 1:
        raise AmbiguousFileError(name, found)
    return found[0]

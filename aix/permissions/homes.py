"""Home folders, as far as their names tell."""

import re

_HOME = re.compile(
    r"(?:/var)?/(?:home|Users)/[^/]+|(?:/var)?/root(?=/|\Z)|(?i:[a-z]:|/mnt/[a-z])/(?i:users|home)/[^/]+"
)


def home_of(path: str) -> str | None:
    r"""Return the home folder that a path lies in or is, with `/` alone; None where its name does not tell.

    >>> home_of("/home/ada/work"), home_of("C:\\Users\\ada"), home_of("/rooted"), home_of("/srv/app")
    ('/home/ada', 'C:/Users/ada', None, None)
    """
    found = _HOME.match(path.replace("\\", "/"))
    return None if found is None else found[0]

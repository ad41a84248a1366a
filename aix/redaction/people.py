"""Places in a text that name people and machines: e-mail addresses, home folders, users and hosts."""

import re
from collections.abc import Iterable, Iterator

from aix.redaction.words import Place, listed, lower_case, places_of

_LOCAL = re.compile(r"[\w.%+'-]{1,64}\Z")
_LONGEST_LOCAL = 64
_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.){1,8}(?P<last>[^\W\d_]{2,24}|xn--[\w-]{2,59})(?![^\W_]|\()")
_NO_TOP_LEVEL = listed(
    "bak c cc class conf cpp cs css csv dart deb diff dll dylib egg exe gem gif gz h hpp html ico jar jpeg jpg js"
    " json jsx kt lock log map md mjs mount pdf php png py pyi rb rpm rs scope service sh slice socket sql svg"
    " swift tar target tgz timer toml ts tsx txt vue war wav webp whl xml yaml yml zip"
)
"""Ends of names of files and units, such as `logo@2x.png` and `getty@tty1.service`."""
_NO_PERSON = frozenset({"git", "hg"})
"""With these, an address such as `git@example.org:team/app` names a service."""

_FOLDERS_OF_HOMES = (
    *("/home/", "/users/", "\\users\\", "\\documents and settings\\", "%2fhome%2f", "%2fusers%2f", "%5cusers%5c"),
    *("-home-", "-users-", "~"),
)
_HOME = re.compile(
    r"""
      (?: [/\\](?:home|Users|Documents\ and\ Settings)[/\\]{1,8} | %(?:5C|2F)(?:home|Users)%(?:5C|2F) )
      (?P<name>[^\s/\\:*?"'`<>|%&;,()\[\]{}$\#=]{1,64})
    | -(?:home|Users)-(?P<slug>[^\W_]{1,64})(?=-|[^\w]|\Z)
    | ~(?P<tilde>[a-z_][a-z0-9_-]{1,31})(?=/)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The folder of all homes and the name of a user, in a path, in a URL, and in the name that a tool made of a path."""
_REST_OF_NAME = re.compile(
    r"""(?:\\?[ ]{1,3}[^\W\da-z_][^\s/\\:*?"'`<>|%&;,()\[\]{}$\#=]{0,40}){1,3}(?=(?P<end>[/\\"'`]))"""
)
"""The rest of a name with blanks, as folders of users have on Windows and macOS."""
_BEFORE_HOME = re.compile(
    r"""
      (?: (?<![\w.~-]) (?:
            /(?:mnt|cygdrive|host_mnt|media|Volumes|net|srv)/[\w-]{1,40} | /(?:var|export|private|data|usr|nfs)
          | /[A-Z] | /?[A-Z](?::|%3A)\\{0,8} | /?[A-Z]- | [ab] )?
        | (?<=[\s"'=]-[A-Z]) | (?<=vscode://file) | (?<=%2F%2F) )\Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_BEFORE = 60
_PROMPT = re.compile(
    r"""
      (?P<user>[A-Za-z_][\w.-]{0,31})@(?P<host>[A-Za-z][\w-]{1,62}(?:\.[\w-]{1,62}){0,6})
      (?: :[~/]\S{0,200} | [ ]~\S{0,200}[ ]? | [ ][\w.~/-]{1,80}\] ) [\#$%>]
    """,
    re.VERBOSE,
)
_REMOTE = re.compile(r"(?P<user>[A-Za-z_][\w.-]{0,31})@(?P<host>\w[\w.-]{0,62}\w)")
_REMOTE_COMMAND = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b[^\r\n]{0,200}[\s'\"]\Z")
_LONGEST_COMMAND = 220
_BEFORE_AT = re.compile(r"(?<![\w.@/:-])[A-Za-z_][\w.-]{0,31}\Z")
_SETTINGS = r"(?i:hostname|computername|host_name|nodename|logname|username|user_name)|USER"
_PARTS_OF_SETTINGS = ("hostname", "computername", "host_name", "nodename", "logname", "username", "user_name", "user")
_SETTING_NAME = re.compile(_SETTINGS)
_SETTING_VALUE = re.compile(r"\w[\w.-]{1,63}")
_NAMED = re.compile(
    rf"""
      (?P<name>{_SETTINGS})(?:\\*["'`])?\]?[ \t]{{0,3}}(?:[:=]|=>)[ \t]{{0,3}}(?:\\*["'`])?
      (?P<value>{_SETTING_VALUE.pattern})(?![\w(\[.])
    """,
    re.VERBOSE,
)
_EXPRESSION = re.compile(r"(?:req|request|res|result|self|this|os|process|event|session|data|config|args|user)\.")
_OF_HOSTS = ("host", "computer", "node")
_COMMON_NAMES = listed(
    "admin administrator agent anonymous any apache app bin bot bytes char ci daemon debian default dev developer"
    " docker ec2-user example false git github gitlab guest home host hostname httpd int jenkins local localhost"
    " localhost.localdomain login machine mail main mysql name nginx nil no nobody node none null number object"
    " oracle os postgres process public python redis req request required root runner runneradmin self server sh"
    " shared str string sys system test tester testuser text this true ubuntu undefined unknown user username"
    " users vagrant value var vscode web work workspace www www-data yes"
)
"""Names that say nothing about a person or a machine."""
_SHARED_HOMES = _COMMON_NAMES | {"...", "…", "you", "me", "*"}
"""Names of home folders that belong to nobody."""
_SHORTEST_NAME = 3
_LONGEST_USER = 32
_BETWEEN_WORDS = r"(?:[\s._+\\-]|&nbsp;){0,3}"
_FIRST_WITHOUT_BLANKS = "\u2e80"
"""From here on, languages write no blanks between words."""


def email_addresses(text: str) -> Iterator[Place]:
    """Go through the places of e-mail addresses.

    >>> text = "Mara <mara@example.org>, logo@2x.png, git@example.org:team/app, left-pad@1.3.0"
    >>> [text[start:end] for start, end in email_addresses(text)]
    ['mara@example.org']
    """
    at = -1
    while (at := text.find("@", at + 1)) >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain is None or domain["last"].lower() in _NO_TOP_LEVEL:
            continue
        first = max(0, at - _LONGEST_LOCAL)
        local = _LOCAL.search(text[first:at])
        if local is not None and local[0].strip(".'-") and local[0].lower() not in _NO_PERSON:
            start = first + local.start() + len(local[0]) - len(local[0].lstrip(".'-"))
            yield start, domain.end()


def home_folders(text: str) -> Iterator[Place]:
    """Go through the places of home folders, each up to the name of its user.

    >>> text = "/home/mara/app and -Users-mara-app, not /app/home/page"
    >>> [text[start:end] for start, end in home_folders(text)]
    ['/home/mara', '-Users-mara']
    """
    for found in _homes(text):
        name = found[found.lastgroup or 0].rstrip(".!")
        is_route = found[0].startswith("/users") or (found[0].startswith("/") and name.isdigit())
        if not name or name.lower() in _SHARED_HOMES or is_route:
            continue
        before = _BEFORE_HOME.search(text, max(0, found.start() - _LONGEST_BEFORE), found.start())
        if before is not None:
            end = found.start(found.lastgroup or 0) + len(name)
            may_have_blanks = found.lastgroup == "name" and found[0][1:5].lower() != "home"
            rest = _REST_OF_NAME.match(text, end) if may_have_blanks else None
            is_quoted = rest is not None and text[max(0, before.start() - 1) : before.start()] == rest["end"]
            yield before.start(), rest.end() if rest and (is_quoted or rest["end"] in "/\\") else end


def _homes(text: str) -> Iterator[re.Match[str]]:
    for start, _ in places_of(_FOLDERS_OF_HOMES, lower_case(text)):
        if found := _HOME.match(text, start):
            yield found


def users_of_homes(path: str) -> Iterator[str]:
    r"""Go through the names of users whose home folders a path is in.

    >>> list(users_of_homes("/Users/mara/src")), list(users_of_homes(r"C:\Users\Mara Lindt\src"))
    (['mara'], ['Mara', 'Mara Lindt'])
    """
    for found in _homes(path):
        if found.lastgroup == "name":
            yield found["name"]
            whole = re.split(r"[/\\]", path[found.start("name") :], maxsplit=1)[0]
            if whole != found["name"]:
                yield whole


def logins(text: str) -> Iterator[tuple[str, Place]]:
    """Go through the users and hosts that commands, prompts and settings name, each with its kind.

    >>> text = "mara@heron:~/app$ HOSTNAME=heron"
    >>> [(kind, text[start:end]) for kind, (start, end) in logins(text)]
    [('user', 'mara'), ('host', 'heron'), ('host', 'heron')]
    """
    for at, _ in places_of(["@"], text):
        user = _BEFORE_AT.search(text, max(0, at - _LONGEST_USER), at)
        login = (_PROMPT.match(text, user.start()) or _remote(text, user.start())) if user else None
        if login is not None and login["user"] not in _NO_PERSON:
            yield from ((kind, login.span(kind)) for kind in ("user", "host") if is_telling_name(login[kind]))
    for start, _ in places_of(_PARTS_OF_SETTINGS, lower_case(text)):
        setting = None if text[start - 1 : start].isalnum() else _NAMED.match(text, start)
        if setting is not None and (found := kind_of_setting(setting["name"], setting["value"])):
            yield found, setting.span("value")


def _remote(text: str, start: int) -> re.Match[str] | None:
    """Return the user and the host that stand there in a command that works on another machine."""
    command = _REMOTE_COMMAND.search(text, max(0, start - _LONGEST_COMMAND), start)
    return _REMOTE.match(text, start) if command else None


def kind_of_setting(name: str, value: str) -> str | None:
    """Return "user" or "host" where a setting of that name has such a name as its value.

    >>> kind_of_setting("HOSTNAME", "heron"), kind_of_setting("username", "root"), kind_of_setting("title", "heron")
    ('host', None, None)
    """
    if not _SETTING_NAME.fullmatch(name) or not _SETTING_VALUE.fullmatch(value) or not is_telling_name(value):
        return None
    if _EXPRESSION.match(value) or value.replace(".", "").isdigit() or value.startswith("example."):
        return None
    return "host" if name.lower().startswith(_OF_HOSTS) else "user"


def is_telling_name(name: str) -> bool:
    """Whether a name of a user or a host says something about a person or a machine.

    >>> is_telling_name("mara"), is_telling_name("localhost")
    (True, False)
    """
    return len(name) >= _SHORTEST_NAME and name.lower() not in _COMMON_NAMES and not name.isdigit()


def names_pattern(names: Iterable[str], *, is_case_kept: bool = False) -> re.Pattern[str] | None:
    """Return a pattern that finds these names as words, in any case unless told, their parts joined in any usual way.

    >>> pattern = names_pattern(["Mara Lindt"])
    >>> [found[0] for found in pattern.finditer("mara.lindt, MaraLindt, Samara Lindt")]
    ['mara.lindt', 'MaraLindt']
    """
    ordered = sorted({name.strip() for name in names} - {""}, key=lambda name: (-len(name), name))
    if not ordered:
        return None
    words = "|".join(map(_pattern_of_name, ordered))
    return re.compile(words, re.NOFLAG if is_case_kept else re.IGNORECASE)


def _pattern_of_name(name: str) -> str:
    words = _BETWEEN_WORDS.join(map(re.escape, re.split(r"\s+", name)))
    before = r"(?<![^\W_])" if name[0] < _FIRST_WITHOUT_BLANKS else ""
    after = r"(?![^\W\d_])" if name[-1] < _FIRST_WITHOUT_BLANKS else ""
    return f"{before}{words}{after}"

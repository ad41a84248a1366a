"""Places of secrets in a text of any kind: prose, code, settings, commands, logs, and JSON at any depth of escapes."""

import re
from collections.abc import Iterator

from aix.redaction.secret_names import counts_tokens, is_certain_name, is_secret_name
from aix.redaction.words import Place, listed, lower_case, places_of

_PARTS = (
    *("pass", "pswd", "pwd", "pw", "secret", "token", "tkn", "key", "auth", "bearer", "cred", "cookie", "conn", "dsn"),
    *("hmac", "jwk", "jwt", "mnemonic", "otp", "psk", "salt", "sas", "sig", "webhook", "recovery", "seed phrase"),
    *("seed_phrase", "seedphrase", "access_code", "access-code", "accesscode", "identified"),
)
"""Every name of a secret has one of these in it."""
_HARMLESS_BEFORE = ("public ", "://")
"""Before a name: then it is a public key, or the user of a URL."""
_LONGEST_WORD_BEFORE = 12
_LONGEST_NAME = 80
_LONGEST_VALUE = 4_000
_OPENING = r"""(?P<open>\\*(?:\"{3}|'{3}|["'`]))"""
# A text that was cut may have no closing quote.
_QUOTED = (
    rf"[bfru]{{0,2}}{_OPENING}(?!(?P=open))(?P<value>[^\r\n]{{1,{_LONGEST_VALUE}}}?)(?:(?<!\\)(?P=open)|(?=[\r\n])|\Z)"
)
_IS = r"(?:\??:[ \t]{0,9}[A-Za-z_][\w.|<> \[\]]{0,40}?[ \t]{0,9}=(?!=)|=>|:=|={1,3}|!={1,2}|:)"
_CLOSING = r"""(?:\\*["'`])?\]?(?:\*\*)?(?:[ ]\[[^\[\]\r\n]{0,40}\])?"""
_QUOTED_VALUE = re.compile(rf"{_CLOSING}[ \t]{{0,9}}{_IS}[ \t]{{0,9}}{_QUOTED}")
_LABELLED_VALUE = re.compile(
    rf"""
      \\*["']\s{{0,9}}(?:,\s{{0,9}}|[ \t])
      \\*["']?(?:value|val|default|data|content)\\*["']?\s{{0,9}}[:=]\s{{0,9}}{_QUOTED}
    """,
    re.VERBOSE,
)
_NEXT_ELEMENT = re.compile(rf"""\\*["']\s{{0,9}},\s{{0,9}}{_QUOTED}""")
_SQL_VALUE = re.compile(rf"[ \t]{{1,9}}(?:by[ \t]{{1,9}}|is[ \t]{{1,9}})?{_QUOTED}", re.IGNORECASE)
_XML_VALUE = re.compile(r"""[^<>\r\n]{0,80}>(?P<value>[^<>\r\n]{1,400})</""")
_BARE = r"""(?P<value>(?:[^\s\x00-\x1f"'`\\,;&<>(){}|]|\\(?![nrt"'`\\])){1,400})"""
_BARE_TO_BLANK = r"""(?P<value>(?!<)(?:[^\s"'`\\]|\\(?![nrt"'`\\])){1,400})"""
_ASSIGNED = re.compile(rf"{_CLOSING}={_BARE}")
_VARIABLE = re.compile(rf"={_BARE_TO_BLANK}")
_STATED = re.compile(rf"{_CLOSING}(?:[ \t]{{0,30}}:=?(?:\*\*)?[ \t]{{0,9}}|[ \t]{{1,30}}=[ \t]{{1,9}}){_BARE}")
_CELL = re.compile(rf"[ \t]{{0,30}}\|[ \t]{{0,30}}`?{_BARE}")
_ON_NEXT_LINE = re.compile(
    rf"""
      (?:\\*["'])?[ \t]{{0,9}}\r?\n[ \t]{{0,40}}(?:value|val):[ \t]{{1,9}}["']?{_BARE}
    | (?:\\*["'])?:[ \t]{{0,9}}[|>]-?[ \t]{{0,9}}\r?\n[ \t]{{1,40}}(?P<block>[^\r\n]{{1,400}})
    """,
    re.VERBOSE,
)
"""As Kubernetes writes variables, and YAML texts of several lines."""
_AFTER_FLAG = re.compile(rf"[ \t]{{1,9}}(?!-){_BARE_TO_BLANK}")
_SAID = re.compile(rf"[ \t]{{1,3}}(?:is|was|lautet|ist)[ \t]{{1,3}}:?[ \t]{{0,3}}{_BARE}")
_PHRASE = re.compile(r"""(?:\\*["'])?[ \t]{0,3}[:=][ \t]{0,3}["']?(?P<value>[a-z]+(?:[ \t]+[a-z]+){2,23})""")
_PASSPHRASE = re.compile(
    r"""
      [ \t]{0,3}:(?:\*\*)?[ \t]{1,3} (?P<value>[a-z]+[0-9]{0,4} (?:[ \t]+[a-z]+[0-9]{0,4}){2,11})
      (?= [ \t]{0,9} (?:[.,;!?)\]"'`\r\n]|\Z) )
    """,
    re.VERBOSE,
)
_OF_SENTENCES = listed(
    "a add allow an and any are as at be by can cannot change check choose enter ensure field fix for from handle has"
    " have hide if in is it least may minimum move must never no not of on only optional or please reject remove"
    " required reset same send set should show than that the this to too type update use validate verify was when which"
    " will with you your das dem den der die ein eine ist muss nicht oder und wird"
)
"""Words that a passphrase seldom has, and a sentence or a change about passwords does."""
_NEXT_WORD = re.compile(rf"[ \t]{{1,3}}{_BARE}")
_WHOLE_LINE = re.compile(
    rf"""{_CLOSING}\s{{0,3}}[:=]\s{{0,3}}(?:[bfru]{{0,2}}(?P<open>\\*["']))?(?P<value>[^\r\n"'`]{{1,{_LONGEST_VALUE}}})"""
)
_TO_LINE_START = re.compile(r"(?:^|[\r\n]|\\n)[ \t]*(?:(?:export|set|declare -x|ENV|ARG|\$env:)[ \t]*)?\Z")
_LINE_START_LENGTH = 24
_LINE_END = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z)")
_SCHEME = re.compile(r"(?:basic|bearer|token|digest|negotiate|apikey|bot)\s+", re.IGNORECASE)
_HEADERS = ("authorization", "cookie")
_NAMES_IN_NETRC = ("password", "passwd", "passphrase")
_CERTAIN_FLAGS = ("--auth", "--pass", "--token")
_PASSWORD_NAMES = ("password", "passwort", "passwd", "passcode", "pwd")
_SHORT_NAMES = ("pass", "pw", "otp", "pin", "token")
_PHRASE_NAMES = ("mnemonic", "passphrase", "phrase")
_KEY_WORDS = re.compile(r"(?:api|access|secret|private|license|account) \Z", re.IGNORECASE)
_CODE_OF_DIGITS = re.compile(r"[0-9]{4,8}")

_URL_LOGIN = r"""
      ://(?P<login>[^\s/?\#@:"'`<>\\]{0,400}:(?![0-9]{1,5}(?:[/?\#\s"'`\\]|\Z))[^\s"'`<>\\]{1,400})@(?=[\w.\[$/-])
    | ://(?P<user>(?!git@)[^\s/?\#@:"'`<>\\${}]{8,400})@(?=[\w.\[-])
"""
# Options before the one with the password, within one command.
_OPTIONS = r"""
  (?: "[^"\r\n]{0,200}" | '[^'\r\n]{0,200}' | "(?![^"\r\n]{0,200}") | '(?![^'\r\n]{0,200}')
    | \\\r?\n | [^\r\n|;&"'] ){0,200}?[ \t]
"""
_WORD = r"""["']?(?P<secret>[^\s"'\\]{1,200})"""
_QUOTED_OR_WORD = r"""(?P<quote>["'])?(?P<secret>(?(quote)[^"'\r\n]|[^\s"'\\|;&<>]){1,200})(?(quote)["'])"""
_SUDO = r"""
  sudo (?: [ \t]{1,9}(?: -[ugphCrtTDR][ \t]{1,9}(?:"[^"\r\n]{0,80}"|'[^'\r\n]{0,80}'|[^\s"']{1,80}) | -[A-Za-z-]{1,20} )
       ){0,9}? [ \t]{1,9}(?:-[A-Za-z]{0,9}(?-i:S)[A-Za-z]{0,9}|--stdin)(?![\w-])
"""
_LOGIN_PATTERNS = (
    (("://",), _URL_LOGIN),
    (
        (" -u", "\t-u", " --user", " --proxy-user"),
        r"""
          [ \t](?:-u|--user|--proxy-user)(?:[ \t=]{1,9}|(?=["'\w])) (?! ["']?[0-9]{1,9}:[0-9]{1,9}["']?(?:\s|$) )
          (?P<quote>["'])?[^\s:"'/]{1,200}:(?P<secret>(?(quote)[^"'\r\n]|[^\s"'/\\]){1,200})
        """,
    ),
    (("mysql", "mariadb"), rf"(?:mysql(?:dump|admin)?|mariadb)\b{_OPTIONS}-p(?P<secret>[^\s\"'\\]{{3,200}})"),
    (("sshpass",), rf"sshpass[ \t]{{1,9}}-p[ \t]{{0,9}}{_WORD}"),
    ((" login",), rf"\ login{_OPTIONS}-p[ \t]{{1,9}}{_WORD}"),
    (("redis-cli",), rf"redis-cli\b{_OPTIONS}-a[ \t]{{1,9}}{_WORD}"),
    (("mongo",), rf"mongo(?:sh|dump|restore|export|import)?\b{_OPTIONS}-p[ \t]{{1,9}}{_WORD}"),
    (("ldap",), rf"ldap[a-z]{{3,8}}\b{_OPTIONS}-[cnvxALZ]{{0,9}}(?-i:w)[ \t]{{0,9}}(?!-){_WORD}"),
    (
        ("htpasswd",),
        rf"""
          htpasswd (?=[^\r\n|;&]{{0,80}}?[ \t]-[A-Za-z]{{0,9}}(?-i:b))
          (?: [ \t]{{1,9}}-[A-Za-z0-9]{{1,9}} (?: [ \t]{{1,9}}[0-9]{{1,3}}(?=[ \t]) )? ){{1,9}}
          (?: [ \t]{{1,9}}[^\s|;&]{{1,200}} ){{1,2}} [ \t]{{1,9}} {_QUOTED_OR_WORD}
          (?= [ \t]{{0,9}}(?:[\r\n|;&<>"'`)]|\Z) )
        """,
    ),
    (
        ("echo ", "printf "),
        rf"""
          (?:echo|printf) (?:[ \t]{{1,9}}-[neE]{{1,3}}){{0,2}} (?:[ \t]{{1,9}}["']%s[^"']{{0,4}}["'])?
          [ \t]{{1,9}} {_QUOTED_OR_WORD} [ \t]{{0,9}}\|[ \t]{{0,9}} {_SUDO}
        """,
    ),
    (("sudo ",), rf"{_SUDO} [^\r\n|;&<]{{0,200}} <<<[ \t]{{0,9}} {_QUOTED_OR_WORD}"),
    (("zip ",), rf"zip(?=[ ]){_OPTIONS}-P[ \t]{{0,9}}{_WORD}"),
    (("passin", "passout"), rf"pass(?:in|out)[ \t]{{1,9}}pass:{_WORD}"),
    (
        ("convertto-securestring",),
        r"""convertto-securestring[ \t]{1,9}(?:-string[ \t]{1,9})?["'](?P<secret>[^"'\r\n]{1,200})""",
    ),
    (
        ("auth",),
        r"""auth[ \t]{0,3}=[ \t]{0,3}\([ \t]{0,3}["'][^"'\r\n]{1,100}["'],[ \t]{0,3}["'](?P<secret>[^"'\r\n]{1,200})""",
    ),
    (("bearer",), r"bearer\s{1,9}(?P<secret>(?=\S{0,400}[0-9=])[A-Za-z0-9._~+/-]{8,4000}={0,2})"),
    (
        ("basic",),
        r"basic\s{1,9}(?P<secret>(?=\S{0,400}[0-9=])(?:[A-Za-z0-9+/]{16,4000}={0,2}|[A-Za-z0-9+/]{6,400}={1,2}))",
    ),
)
_LOGINS = [(words, re.compile(pattern, re.VERBOSE | re.IGNORECASE)) for words, pattern in _LOGIN_PATTERNS]
"""Words, and the pattern of a login that may begin there."""

_LOGIN_BEFORE_AT = re.compile(
    r"""(?<![\w.@/:-])[A-Za-z_][\w.-]{0,31}:(?P<secret>[^\s:@/"'`<>\\,;|()\[\]{}=]{5,100})\Z"""
)
_LONGEST_LOGIN = 140
_HOST_AFTER_AT = re.compile(
    r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.]*\w)|(?:localhost|(?!sha[0-9])[A-Za-z][\w.-]{0,200}):[0-9]{1,5}(?!\w)"
)
"""An address, or a name with a port: `user:word@name` alone may be an e-mail address with a scheme, or a package."""

_STAND_IN_FORM = r"[\W_]*|[xX]{3,}|<[^<>]*>|\[x+\]|(?i:your[-_ ].*|.*[-_]here|redacted|null|none|true|false)"
_REFERENCE_FORM = r"\$\{.*\}|\$[A-Z_][A-Z0-9_]*|\$\(.*|%[A-Za-z_]\w*%"
_STAND_IN = re.compile(rf"{_STAND_IN_FORM}|{_REFERENCE_FORM}")
"""Stands for a secret, or says where it is to be found, wherever it is."""
_PLACEHOLDER = re.compile(
    rf"""
      {_STAND_IN_FORM} | {_REFERENCE_FORM} | \[[^\[\]]{{0,80}}\] | \$[A-Za-z_]+
    | \{{\{{?[^{{}}]*\}}\}}? | \#\{{.*\}} | @[\w.-]+@
    | (?i: my[-_]?(?:api[-_]?key|token|secret|password) | insert[-_ ].* | hidden
         | nil | undefined | yes | no | on | off | required | optional
         | (?:process\.env|os\.environ|os\.getenv|import\.meta\.env|env|secrets|vars|config|settings|self|this)[.\[(].*
         | (?:op|vault|file|keychain)://?.* )
    """,
    re.VERBOSE,
)
"""The same in code and prose."""
_TYPE = re.compile(
    r"""
      (?: (?:optional|list|array|readonly|const)[\[<( ] )* (?:
        str | string | bytes | int | integer | number | float | bool | boolean | any | unknown | object | text | varchar
      | char | uuid | json | dict | list | array | none | null | void | never | self | type | function | async | await
      | new | required | optional | secretstr ) [\[\]<>()?!|,;.]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+[;,]?|[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*[\[(.].*"
)
_RANDOM = re.compile(r"[A-Za-z0-9+/_=.~@!$%^*#-]{8,}")
_PLAIN = r"""
      [0-9.,:/_+-]+ | [0-9]{4}-[0-9]{2}-[0-9]{2}.* | (?:\.{0,2}/|~/|[A-Za-z]:\\).* | [\w.-]+/[\w./-]*\.[a-z]{1,5}
    | [a-z]+://.* | 0x[0-9a-fA-F]+
"""
_PLAIN_FORM = re.compile(_PLAIN, re.VERBOSE)
_HARMLESS_FORM = re.compile(
    rf"""
      {_PLAIN}
    | [0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{12}}
    | [A-Za-z]+(?:[-_./ ][A-Za-z]+)*[-_.]?v?[0-9]{{1,4}}
    """,
    re.VERBOSE,
)
_MIXES = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])|[a-z](?=[A-Z])")
_FEWEST_MIXES = 2
_PATH = re.compile(r"(?:\.{0,2}/|~/|[A-Za-z]:\\)[^\s+=]*")
_FEWEST_MIXES_IN_PATH = 5
"""A key in base 64 may begin as a path does."""
_WORDS = re.compile(r"[A-Za-zÀ-ÿ'’.,!?-]+")


def secrets(text: str) -> Iterator[Place]:
    """Go through the places of secrets that what stands before them gives away.

    >>> text = "export API_KEY=abc123 && curl https://ada:lovelace@example.org"
    >>> [text[start:end] for start, end in secrets(text)]
    ['abc123', 'ada:lovelace']
    """
    yield from _named(text)
    lowered = lower_case(text)
    for words, pattern in _LOGINS:
        for start, _ in places_of(words, lowered):
            found = pattern.match(text, start)
            group = None if found is None else _group_of_login(found)
            if found is not None and group is not None:
                yield found.span(group)
    for at, _ in places_of(["@"], text):
        login = _LOGIN_BEFORE_AT.search(text, max(0, at - _LONGEST_LOGIN), at)
        if login is None or _is_placeholder(login["secret"]) or not looks_like_password(login["secret"]):
            continue
        if _HOST_AFTER_AT.match(text, at + 1):
            yield login.span()


def _group_of_login(found: re.Match[str]) -> str | None:
    """Return the part of a login that is a secret, if any is."""
    parts = found.groupdict()
    if parts.get("login"):
        return None if _is_placeholder(parts["login"].partition(":")[2]) else "login"
    if parts.get("user"):
        return "user" if _looks_random(parts["user"]) else None
    is_of_manual = parts["secret"].lower() in ("password", "pass")
    return None if is_of_manual or _is_placeholder(parts["secret"]) else "secret"


def is_secret_value(name: str, value: str) -> bool:
    """Whether the value of a setting of that name is a secret.

    >>> is_secret_value("password", "x"), is_secret_value("key", "title"), is_secret_value("api_key", "${API_KEY}")
    (True, False, False)
    """
    return is_secret_name(name) and _is_quoted_secret(name, value)


def looks_like_password(value: str) -> bool:
    """Whether a word has letters and more than letters, as a password of people often does.

    >>> looks_like_password("hunter2"), looks_like_password("hunter")
    (True, False)
    """
    return (
        len(value) >= 5
        and any(character.isalpha() for character in value)
        and any(character.isdigit() or character in "!#$%^&*@+" for character in value)
        and not _PLAIN_FORM.fullmatch(value)
    )


def _named(text: str) -> Iterator[Place]:
    position = 0
    for first, last in places_of(_PARTS, lower_case(text)):
        if first < position:
            continue
        start, position = _name_around(text, first, last, position)
        name = text[start:position]
        before = text[max(0, start - _LONGEST_WORD_BEFORE) : start]
        if before.lower().endswith(_HARMLESS_BEFORE):
            continue
        if name.lower() in ("key", "keys") and (words := _KEY_WORDS.search(before)):
            name = f"{words[0].strip()}_{name}"
        if (is_secret_name(name) or name.lower().endswith("identified")) and not counts_tokens(name):
            place = _value_of(text, name, start, position)
            if place is not None:
                yield place
                position = place[1]


def _name_around(text: str, start: int, end: int, first: int) -> Place:
    begun = start
    while start > first and begun - start < _LONGEST_NAME and _is_of_name(text[start - 1]):
        start -= 1
    while end < len(text) and end - start < _LONGEST_NAME and _is_of_name(text[end]):
        end += 1
    while end > begun and text[end - 1] in ".-":
        end -= 1
    return start, end


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character in "_.-"


def _value_of(text: str, name: str, start: int, end: int) -> Place | None:
    """Return the place of the value of a name that stands there."""
    lowered = name.lower()
    if lowered.endswith(_HEADERS) and (found := _WHOLE_LINE.match(text, end)):
        return _of_header(text, found)
    for pattern in (_QUOTED_VALUE, _LABELLED_VALUE):
        if found := pattern.match(text, end):
            return found.span("value") if _is_quoted_secret(name, found["value"]) else None
    if found := _NEXT_ELEMENT.match(text, end):
        is_value = name.startswith("-") or (lowered.endswith(_HEADERS) and _SCHEME.match(found["value"]))
        is_hidden = not _is_placeholder(found["value"]) and (is_value or _is_argument_secret(name, found["value"]))
        return found.span("value") if is_hidden else None
    if name.startswith("--") and (found := _AFTER_FLAG.match(text, end)):
        return found.span("value") if _is_bare_secret(name, found["value"]) else None
    return _bare_value_of(text, name, start, end)


def _bare_value_of(text: str, name: str, start: int, end: int) -> Place | None:
    is_certain = is_certain_name(name)
    before = text[max(0, start - _LINE_START_LENGTH) : start]
    is_line_start = _TO_LINE_START.search(before) is not None
    if is_line_start and (found := _VARIABLE.match(text, end)) and not found["value"].endswith((",", ")")):
        if name.isupper():
            is_hidden = _is_variable_secret(name, found["value"])
        else:
            is_hidden = _is_bare_secret(name, found["value"])
        if is_certain or is_hidden:
            return found.span("value") if is_hidden else None
    if found := _ASSIGNED.match(text, end):
        after = text[found.end("value") : found.end("value") + 1]
        if text[start - 1 : start] in ("?", "&"):
            may_be_secret = not _is_placeholder(found["value"])
        elif after in (",", ")"):
            may_be_secret = _is_argument_secret(name, found["value"])
        else:
            may_be_secret = _is_bare_secret(name, found["value"])
        return found.span("value") if may_be_secret else None
    if is_certain and (found := _ON_NEXT_LINE.match(text, end)):
        group = "block" if found["block"] else "value"
        return None if _is_placeholder(found[group]) else found.span(group)
    if name.lower().endswith(_PHRASE_NAMES) and (found := _PHRASE.match(text, end)):
        return found.span("value")
    if name.lower().endswith(_PASSWORD_NAMES) and (found := _PASSPHRASE.match(text, end)):
        return found.span("value") if _OF_SENTENCES.isdisjoint(found["value"].split()) else None
    if found := _STATED.match(text, end):
        is_followed_by_call = text[found.end("value") : found.end("value") + 1] in ("(", "{")
        ends_line = is_line_start and _LINE_END.match(text, found.end("value")) is not None
        is_hidden = not is_followed_by_call and _is_stated_secret(name, found["value"], is_alone=ends_line)
        return found.span("value") if is_hidden else None
    if is_certain and (found := _CELL.match(text, end)):
        return found.span("value") if looks_like_password(found["value"]) else None
    if before.endswith("<") and is_certain and (found := _XML_VALUE.match(text, end)):
        return None if _is_placeholder(found["value"]) else found.span("value")
    is_password = any(part in name.lower() for part in ("password", "passwd", "identified", "passphrase"))
    if is_password and (found := _SQL_VALUE.match(text, end)):
        is_hidden = not _is_placeholder(found["value"]) and not _is_sentence(found["value"])
        return found.span("value") if is_hidden else None
    return _said_value_of(text, name, end) if is_certain else None


def _said_value_of(text: str, name: str, end: int) -> Place | None:
    """Return the place of a value that follows a name as in a sentence, or with nothing but a blank between them."""
    found, may_be_secret = _SAID.match(text, end), looks_like_password
    if found is None:
        found = _NEXT_WORD.match(text, end)
        may_be_secret = looks_like_password if name.lower() in _NAMES_IN_NETRC else _looks_random
    if found is None:
        return None
    start, value = found.start("value"), found["value"].rstrip(".,!?*")
    return (start, start + len(value)) if may_be_secret(value) else None


def _of_header(text: str, found: re.Match[str]) -> Place | None:
    start, end = found.span("value")
    scheme = _SCHEME.match(text, start, end)
    start = scheme.end() if scheme else start
    value = text[start:end]
    if _is_placeholder(value.strip()) or _TYPE.fullmatch(value.strip()) or not value.strip():
        return None
    is_code = _CODE.fullmatch(value.strip()) or value.lstrip()[:1] in "({[$"
    return None if is_code or (scheme is None and found["open"] is None and _is_sentence(value)) else (start, end)


def _is_quoted_secret(name: str, value: str) -> bool:
    if _is_placeholder(value.strip()) or not value.strip():
        return False
    if counts_tokens(name):
        return _looks_random(value)
    if is_certain_name(name):
        return _TYPE.fullmatch(value) is None
    return _looks_random(value) or _is_short_secret(name, value)


def _is_short_secret(name: str, value: str) -> bool:
    """Whether a value is a secret of a name such as `pass` or `pin`, which may stand for something else."""
    last = re.split(r"[_.-]", name.lower())[-1]
    if last not in _SHORT_NAMES:
        return False
    return looks_like_password(value) or (last in ("otp", "pin") and _CODE_OF_DIGITS.fullmatch(value) is not None)


def _is_argument_secret(name: str, value: str) -> bool:
    """Whether an argument of a call is a secret, where a variable is more likely."""
    return _looks_random(value) or (is_certain_name(name) and looks_like_password(value) and not value.isidentifier())


def _is_variable_secret(name: str, value: str) -> bool:
    """Whether the value of an environment variable is a secret: code is not, where a shell or a file sets it."""
    if _STAND_IN.fullmatch(value) or (_PATH.fullmatch(value) and "." in value):
        return False
    return is_certain_name(name) or _looks_random(value) or _is_short_secret(name, value)


def _is_bare_secret(name: str, value: str) -> bool:
    if _PATH.fullmatch(value) and len(_MIXES.findall(value)) < _FEWEST_MIXES_IN_PATH:
        return False
    if _is_placeholder(value) or _CODE.fullmatch(value) or value.startswith(("$", "(", "[", "{")):
        return False
    if value.isupper() and value.isidentifier() and value.lower() in name.lower():
        return False  # as in the help of a command: --token TOKEN
    if is_certain_name(name) or name.lower() in _CERTAIN_FLAGS:
        return _TYPE.fullmatch(value) is None
    return _looks_random(value) or _is_short_secret(name, value)


def _is_stated_secret(name: str, value: str, *, is_alone: bool) -> bool:
    """Whether a value is a secret that follows a colon, or an equals sign with blanks: it may be code, or prose."""
    if not _is_bare_secret(name, value):
        return False
    if not is_certain_name(name) or _looks_random(value):
        return True
    is_of_name = value.lower().replace("_", "") in name.lower().replace("_", "")
    return looks_like_password(value) or (is_alone and value == value.lower() and not is_of_name)


def _is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is not None


def _looks_random(value: str) -> bool:
    return (
        _RANDOM.fullmatch(value) is not None
        and _HARMLESS_FORM.fullmatch(value) is None
        and any(character.isdigit() for character in value)
        and len(_MIXES.findall(value)) >= _FEWEST_MIXES
    )


def _is_sentence(value: str) -> bool:
    words = value.split()
    return len(words) >= 3 and all(_WORDS.fullmatch(word) for word in words)

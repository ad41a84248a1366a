"""Forms of credentials that show by their text alone, wherever they stand.

`CREDENTIAL_FORMS` and `PRIVATE_KEY_START` are for verbose patterns.
"""

import re
from collections.abc import Iterator

from aix.redaction.words import Place, places_of

# Lengths have bounds so that no text makes the search slow.
CREDENTIAL_FORMS = r"""
      (?i:\bbearer\s+(?=[^\s0-9]{0,400}[0-9])[\w.~+/=-]{16,})
    | (?<![A-Za-z0-9])(?:
          [psr]k[-_][A-Za-z0-9_-]{16,}
        | gh[a-z]_[A-Za-z0-9]{6,} | github_pat_\w{6,} | gl[a-z]{2,5}-[\w-]{10,}
        | xox[a-z]-[\w-]{6,} | xapp-[\w-]{6,} | (?:AKIA|ASIA)[0-9A-Z]{12,} | AIza[\w-]{20,} | ya29\.[\w-]{10,}
        | hf_[A-Za-z0-9]{10,} | npm_[A-Za-z0-9]{16,} | gsk_[A-Za-z0-9]{16,} | xai-[A-Za-z0-9]{16,} | r8_[A-Za-z0-9]{16,}
        | pypi-[\w-]{16,} | dckr_pat_[\w-]{6,} | tvly-[\w-]{10,} | whsec_[\w+/=]{10,} | SG\.[\w-]{10,} | AGE-SECRET-KEY-
        | eyJ[\w-]{5,}\.[\w-]{5,}
      )
    | \bbot[0-9]{5,20}:[\w-]{10,}
"""
PRIVATE_KEY_START = r"-----BEGIN\ [A-Z0-9 ]{0,40}PRIVATE\ KEY"
_KEY_LINE = r"[A-Za-z0-9+/=]{16,400}"
_BETWEEN_LINES = r"""[\s→>|"'`+\\]"""

_PRIVATE_KEY = re.compile(
    rf"""
      {PRIVATE_KEY_START} (?: [\s\S]{{0,20000}}? -----END\ [A-Z0-9 ]{{0,40}}-----
                            | (?: [A-Za-z0-9+/=:,.\s→>|"'`+\\%&\#;-] ){{0,20000}} )
    | ----\ BEGIN\ SSH2\ [A-Z ]{{0,20}}PRIVATE\ KEY\ ----[\s\S]{{0,20000}}?----\ END\ [A-Z0-9 ]{{0,40}}----
    | (?<![A-Za-z0-9+/=]){_KEY_LINE}(?:{_BETWEEN_LINES}{{1,40}}[A-Za-z0-9+/=]{{1,400}}){{0,400}}
      {_BETWEEN_LINES}{{0,40}}-----END\ [A-Z0-9 ]{{0,40}}PRIVATE\ KEY
    | PuTTY-User-Key-File-[0-9][\s\S]{{0,20000}}?Private-MAC:\s*[0-9a-f]+
    """,
    re.VERBOSE,
)
"""A key whose end is missing, as in a text that was cut, ends where no key can go on."""
_STARTS = (
    *("$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$"),
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("xapp-", "xox", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-"),
    *("glsoat-", "glffct-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_", "gsk_", "xai-", "r8_", "pypi-"),
    *("dckr_pat_", "tvly-", "whsec_", "SG.", "AGE-SECRET", "eyJ", "GOCSPX-", "1//0", "dapi", "dop_v1_"),
    *("doo_v1_", "dor_v1_", "shp", "lin_api_", "lin_oauth_", "ntn_", "secret_", "sbp_", "key-", "HRKU-"),
    *("ATATT3", "PMAK-", "glsa_", "glc_", "sntry", "dp.", "fm1_", "fm2_", "pplx-", "lsv2_", "pcsk_", "figd_"),
    *("sq0", "EAA", "hvs.", "hvb.", "hvr.", "ops_eyJ", "tskey-", "rubygems_", "pscale_", "CFPAT-", "NRAK-"),
    *("LTAI", "SK", "hooks.slack.com/", "/api/webhooks/", "webhook.office.com/", "bearer ", "Bearer "),
    *("BEARER ", "bot0", "bot1", "bot2", "bot3", "bot4", "bot5", "bot6", "bot7", "bot8", "bot9"),
)
"""A credential is looked for where one of these stands."""
_FORMS = re.compile(
    rf"""
      {CREDENTIAL_FORMS.replace("AGE-SECRET-KEY-", "AGE-SECRET-KEY-[A-Z0-9]*")}
    | (?<![A-Za-z0-9])(?:
          GOCSPX-[\w-]{{10,}} | 1//0[\w-]{{20,}} | dapi[0-9a-f]{{32}} | do[opr]_v1_[0-9a-f]{{20,}}
        | shp[a-z]{{2}}_[0-9a-fA-F]{{20,}} | lin_(?:api|oauth)_[A-Za-z0-9]{{16,}} | (?:ntn|secret)_[A-Za-z0-9]{{30,}}
        | sbp_[0-9a-f]{{20,}} | key-[0-9a-f]{{32}} | HRKU-[\w-]{{20,}} | ATATT3[\w=-]{{20,}} | PMAK-[\w-]{{20,}}
        | gl(?:sa|c)_[\w=+/-]{{20,}} | sntry[su]_[\w=+/-]{{20,}} | dp\.[a-z]{{2}}\.[\w.-]{{20,}} | fm[12]_[\w+/=]{{20,}}
        | pplx-[A-Za-z0-9]{{20,}} | lsv2_[\w-]{{20,}} | pcsk_\w{{20,}} | figd_[\w-]{{20,}}
        | sq0[a-z]{{3}}-[\w-]{{20,}} | EAA[A-Za-z0-9]{{40,}}
        | hv[sbr]\.[\w-]{{20,}} | ops_eyJ[\w=-]{{20,}} | tskey-[\w-]{{16,}} | rubygems_[0-9a-f]{{30,}}
        | pscale_[a-z]{{2,5}}_[\w.=-]{{20,}} | CFPAT-[\w-]{{20,}} | NRAK-[A-Z0-9]{{20,}} | LTAI[A-Za-z0-9]{{12,}}
        | SK[0-9a-f]{{32}}
      )(?![A-Za-z0-9])
    | \$(?:2[aby]|5|6|y|1)\$[./A-Za-z0-9$=,]{{20,400}}
    | (?:hooks\.slack\.com/|/api/webhooks/|webhook\.office\.com/)(?P<path>[\w/@-]+)
    """,
    re.VERBOSE,
)
_WORDS = re.compile(
    r"""
      (?!sk-(?:ant|proj)-)[psr]k(?:[-_][a-z]{1,12})+
    | (?![psr]k|NRAK)[A-Za-z]+[-_](?:[A-Z]+|[A-Za-z]?[a-z]+|[A-Za-z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+)
    """,
    re.VERBOSE,
)
"""A name that begins like a credential, such as `npm_packageVersion`: letters alone, and cases as words have them."""
_BOT_TOKEN = re.compile(r":AA[\w-]{33}(?![\w-])")
_BOT_NUMBER = re.compile(r"(?<![\w.-])[0-9]{6,12}\Z")
_LONGEST_BEFORE_BOT_TOKEN = 14
_REST = re.compile(r"[\w.~+/=-]{0,4000}[\w~+/=]")


def credentials(text: str) -> Iterator[Place]:
    """Go through the places of credentials that show by their form, private keys apart.

    >>> text = "use sk-live-0123456789abcdef"
    >>> [text[start:end] for start, end in credentials(text)]
    ['sk-live-0123456789abcdef']
    """
    position = 0
    for start, _ in places_of(_STARTS, text):
        found = _FORMS.match(text, start) if start >= position else None
        if found is None:
            continue
        rest = _REST.match(text, found.end())
        begun, position = found.start(found.lastgroup or 0), rest.end() if rest else found.end()
        if not _WORDS.fullmatch(text, begun, position):
            yield begun, position
    yield from _bot_tokens(text)


def _bot_tokens(text: str) -> Iterator[Place]:
    """Go through the places of tokens of Telegram's bots, which begin with the number of the bot."""
    for start, _ in places_of([":AA"], text):
        found = _BOT_TOKEN.match(text, start)
        number = _BOT_NUMBER.search(text, max(0, start - _LONGEST_BEFORE_BOT_TOKEN), start) if found else None
        if found and number:
            yield number.start(), found.end()


def private_keys(text: str) -> Iterator[Place]:
    """Go through the places of private keys, with their first and last lines."""
    if "PRIVATE KEY" in text or "PuTTY-User-Key" in text:
        for found in _PRIVATE_KEY.finditer(text):
            yield found.span()

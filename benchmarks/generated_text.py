"""Text for generated logs: prose, lines of code and encoded pictures, made once and then cut into pieces."""

import random
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

_VOCABULARY = """
the a to of and in that is it for this with be as on not are when from if by should now we so because which only after
before first then each every there has have was will can need must may same new old other more less next last both all
file test line error call result value change branch request response session message table column row index query
path folder module function class method argument option default setting flag key name type list string number time
parser reader writer importer worker process thread queue cache buffer stream token schema version commit migration
server client route handler endpoint header body payload timeout retry limit window page button form field label
build deploy release package dependency install configure lint format coverage fixture mock assert fail pass skip run
read write open close load save store fetch parse render update delete remove add insert merge split sort filter map
check verify look find search match replace rename move copy keep drop fix break refactor extract inline simplify
empty missing broken stale wrong correct duplicate unused optional required nested shared private public local remote
"""
_WORDS = _VOCABULARY.split()
_FOREIGN = ("naïve", "Größe", "résumé", "日本語", "façade", "→", "✓", "🚀", "übrigens", "señal")
_STATEMENTS = (
    "def {a}_{b}({c}: {T}, {d}: {T}) -> {T}:",
    "    {a} = {b}.{c}({d}, {e}={n})",
    '    {a}_{b} = self.{c}("{d} {e}")',
    "    if {a} is None or {b}.{c} > {n}:",
    '        raise {T}Error(f"{a} {{{b}}} {c} {d} {e}")',
    "    for {a}, {b} in enumerate({c}.{d}()):",
    "        {a}.append({b}[{c}])",
    "    return {a}_{b}({c}, {d})",
    "    # {a} {b} {c} {d} {e} {f}",
    "class {T}{U}({T}):",
    '    """{a} {b} the {c} of {d} {e}."""',
    "const {a}{U} = await {b}.{c}({{ {d}: {n}, {e}: '{f}' }});",
    "  it('{a} {b} {c} {d}', async () => {{",
    "    expect({a}.{b}).toEqual({n});",
    "  }}",
    "export function {a}{U}({b}: {T}): {T} {{",
    "import {{ {a}, {b} }} from './{c}/{d}';",
    "",
    "    with {a}.{b}({c}) as {d}:",
    "        {a}[{b}] = {c} + {n}",
    '      <{T} {a}={{{b}}} {c}="{d}" />',
    '  "{a}_{b}": {{"{c}": {n}, "{d}": "{e}"}},',
    "2026-01-{m}T10:{m}:07Z INFO {a}.{b} {c}={n} {d}={e}",
    "tests/{a}/test_{b}.py::test_{c}_{d} PASSED [ {m}%]",
    "\t{a} := {b}.{T}({c}, {n}) \\",
)
_LINES = 60_000
_LINES_OF_FILE = 150
_PROSE_WORDS = 600_000
_PICTURE_BYTES = 1_500_000


class Supply:
    """An endless supply of text, the same in every run; what is cut from it depends on the dice that are handed in."""

    def __init__(self) -> None:
        dice = random.Random(1)
        self._lines = [line for _ in range(_LINES // _LINES_OF_FILE) for line in _file(dice)]
        self._prose = _prose(dice)
        self._picture = b64encode(dice.randbytes(_PICTURE_BYTES)).decode()

    def word(self, dice: random.Random) -> str:
        """Return a word without spaces or signs."""
        return _WORDS[int(dice.random() * len(_WORDS))]

    def prose(self, dice: random.Random, length: int) -> str:
        """Return so many characters of sentences."""
        start = int(dice.random() * (len(self._prose) - length))
        return self._prose[start : start + length]

    def lines(self, dice: random.Random, count: int) -> list[str]:
        """Return so many lines of code or of a program's output."""
        lines: list[str] = []
        while len(lines) < count:
            start = int(dice.random() * _LINES)
            lines += self._lines[start : start + count - len(lines)]
        return lines

    def base64(self, dice: random.Random, length: int) -> str:
        """Return that many letters, or up to three less, of what is encoded."""
        start = int(dice.random() * (len(self._picture) - length)) & ~3
        return self._picture[start : start + (length & ~3)]


@cache
def supply() -> Supply:
    """Return the supply, which takes a second to make."""
    return Supply()


def _file(dice: random.Random) -> Iterator[str]:
    """Go through lines that use few words and statements again and again, as a file does."""
    names, statements = dice.sample(_WORDS, 14), dice.sample(_STATEMENTS, 8)
    for _ in range(_LINES_OF_FILE):
        statement = statements[int(dice.random() ** 1.5 * len(statements))]
        words = [names[int(dice.random() ** 1.5 * len(names))] for _ in "abcdef"]
        kinds = {"T": words[0].title(), "U": words[1].title()}
        yield statement.format(**dict(zip("abcdef", words, strict=True)), **kinds, n=dice.randrange(500), m=17)


def _prose(dice: random.Random) -> str:
    common_first = list(accumulate(1 / (place + 3) for place in range(len(_WORDS))))
    words = dice.choices(_WORDS, cum_weights=common_first, k=_PROSE_WORDS)
    for place in range(0, _PROSE_WORDS, 40):
        words[place + dice.randrange(40)] = dice.choice(_FOREIGN)
    for place in range(0, _PROSE_WORDS, 9):
        code = "_".join(dice.choices(_WORDS, k=2))
        words[place + dice.randrange(9) if place < _PROSE_WORDS - 9 else place] += dice.choice(
            (f" `{code}`", ",", " –")
        )
    for place in range(12, _PROSE_WORDS, 13):
        words[place] += dice.choice((". ", ". ", ".\n", ".\n\n", ":\n- ", "? ")) + "The"
    return re.sub(" *\n *", "\n", " ".join(words))

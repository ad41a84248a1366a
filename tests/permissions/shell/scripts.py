"""Random shell scripts with the programs that they run: valid by the way they are made."""

from typing import NamedTuple

from hypothesis import strategies as st


class Part(NamedTuple):
    """A piece of a script, and the programs in it in the order in which they are to be found."""

    text: str
    programs: tuple[str, ...] = ()


_PLAIN_ARGUMENTS = [
    "a", "-x", "--long=v", "'single quoted; rm'", '"double | quoted"', "$var", '"${x:-y}"', "${x%/*}", "$((1 + 2))",
    "a\\ b", "$'ansi\\'c'", '"a\\"b"', "*.py", "{a,b}", "~/x", "a=b", "x#y", "''", '"$@"', "ünï", "2", "[a-z]", "\\;",
    "$'\\n'", "%d", "!", '"it\'s"', "'say \"hi\"'", "if", "done", "}", "a\\\nb", "\\\n  c", "[[", "$#", "${#x}",
    "${x/a/b}", "@", "${a[0]}", "a,b",
]  # fmt: skip
_REDIRECTS = ["> out", "2>&1", ">> log", "< in", "2>/dev/null", "&> all", "<<< word", ">| f", "<> f", "2>&-", '> "$f"']


@st.composite
def _arguments(draw: st.DrawFn, depth: int) -> Part:
    parts: list[Part] = []
    for _ in range(draw(st.integers(0, 3))):
        if depth and draw(st.integers(0, 4)) == 0:
            inner = draw(_lists(depth - 1))
            form = draw(st.sampled_from(["$({})", '"$({})"', 'x"$({})"y', "<({})", '"a ${{x:-$({})}} b"', "$( {} )"]))
            # A space, because two brackets would begin arithmetic.
            parts.append(Part(form.format(f" {inner.text}" if inner.text[0] == "(" else inner.text), inner.programs))
        else:
            parts.append(Part(draw(st.sampled_from(_PLAIN_ARGUMENTS))))
    return Part("".join(f" {part.text}" for part in parts), tuple(name for part in parts for name in part.programs))


@st.composite
def _simple(draw: st.DrawFn, depth: int) -> Part:
    name = draw(st.from_regex(r"p[a-z]{1,3}[0-9]", fullmatch=True))
    written = draw(st.sampled_from([name, f"'{name}'", f'"{name}"', f"/usr/bin/{name}", f"\\{name}"]))
    prefix = draw(st.sampled_from(["", "", "", "A=1 ", "A=1 B='x y' ", "time "]))
    arguments = draw(_arguments(depth))
    redirect = draw(st.sampled_from(["", "", f" {draw(st.sampled_from(_REDIRECTS))}"]))
    text = f"{prefix}{written}{redirect}{arguments.text}"
    if draw(st.booleans()):
        text = f"{prefix}{written}{arguments.text}{redirect}"
    return Part(text, (name, *arguments.programs))


@st.composite
def _compound(draw: st.DrawFn, depth: int) -> Part:
    form = draw(
        st.sampled_from(
            [
                "if {}; then {}; fi",
                "if {}\nthen {}\nelse {}\nfi",
                "if {}; then {}; elif {}; then {}; fi",
                "while {}; do {}; done",
                "until {}; do\n{}\ndone < in",
                "for i in a b; do {}; done",
                "for i in $( {} ); do {}; done > out",
                "for ((i = 0; i < 3; i++)); do {}; done",
                "case $x in a) {};; b|c) {};; *) ;; esac",
                "case $x in\n  (a)\n    {}\n    ;;\n  *) {} ;;\nesac",
                "{{ {}; {}; }}",
                "{{ {}; }} 2>/dev/null",
                "( {}; {} )",
                "if ! {}; then {}; fi",
                "( ( {} ) && ({}; {}) )",
                "[[ -f x && $y == z* ]] && {}",
                "(( i > 2 )) || {}",
                "f() {{ {}; }}",
                "function g {{\n{}\n}}",
                "time {{ {}; }}",
                "x=$( {} )",
                "x=(a $( {} ))",
                "[[ $( {} ) ]]",
            ]
        )
    )
    lists = [draw(_lists(depth - 1)) for _ in range(form.replace("{{", "").count("{}"))]
    return Part(form.format(*(one.text for one in lists)), tuple(name for one in lists for name in one.programs))


@st.composite
def _lists(draw: st.DrawFn, depth: int) -> Part:
    text = ""
    programs: tuple[str, ...] = ()
    for number in range(draw(st.integers(1, 3))):
        if number:
            text += draw(
                st.sampled_from([" && ", " || ", "; ", " | ", "\n", " &&\n", " |& ", " & ", ";", "|", " # c; d\n"])
            )
        one = draw(_compound(depth) if depth and draw(st.integers(0, 2)) == 0 else _simple(depth))
        text += one.text
        programs += one.programs
    return Part(text, programs)


@st.composite
def _with_here_document(draw: st.DrawFn) -> Part:
    before, after = draw(_simple(0)), draw(_lists(1))
    inner = draw(_simple(0).filter(lambda part: "\n" not in part.text))
    op, delimiter, is_expanded = draw(
        st.sampled_from([("<<", "END", True), ("<<", "'END'", False), ("<<-", '"END"', False), ("<<-", "END", True)])
    )
    same_line = draw(st.sampled_from(["", " | cat", " > f", " && cat", "; cat", " 2>&1 | cat"]))
    body = f"if done ' \" rm -rf / # $({inner.text})"
    end = "\tEND" if op == "<<-" else "END"
    return Part(
        f"{before.text} {op}{delimiter}{same_line}\n{body}\n{end}\n{after.text}",
        (
            *before.programs,
            *(inner.programs if is_expanded else ()),
            *(("cat",) if "cat" in same_line else ()),
            *after.programs,
        ),
    )


scripts = st.one_of(_lists(2), _lists(3), _with_here_document())

"""Targets of calls: commands, paths inside and outside, hosts, servers and agents."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.permissions.operands import files_named, hosts_named
from aix.permissions.paths import folders_of, place
from aix.permissions.targets import CUT, MOST_PARTS, Part, parts_of

WORKSPACE = "/home/u/proj"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", ("/home/u/proj/a.py", False)),
        ("./src/../lib//a.py", ("/home/u/proj/lib/a.py", False)),
        ("/home/u/proj", ("/home/u/proj", False)),
        ("/home/u/proj/", ("/home/u/proj", False)),
        ("/tmp/../home/u/proj/a", ("/home/u/proj/a", False)),
        ("/home/u/proj2/a", ("/home/u/proj2/a", True)),
        ("/home/u/project", ("/home/u/project", True)),
        ("../proj/a", ("/home/u/proj/a", False)),
        ("../a", ("/home/u/a", True)),
        ("../../../../../etc/x", ("/etc/x", True)),
        ("~/a", ("/home/u/a", True)),
        ("~/proj/a", ("/home/u/proj/a", False)),
        ("$HOME/proj/a", ("/home/u/proj/a", False)),
        ("${HOME}/a", ("/home/u/a", True)),
        ("$PWD/a", ("/home/u/proj/a", False)),
        ("$(pwd)/../a", ("/home/u/a", True)),
        ("~other/a", ("~other/a", True)),
        ("src/*.py", ("/home/u/proj/src/*.py", False)),
        ("src/$NAME", ("/home/u/proj/src/$NAME", False)),
        ("/etc/$NAME", ("/etc/$NAME", True)),
        ("/home/u/$NAME", ("/home/u/$NAME", None)),
        ("/home/u/pro*", ("/home/u/pro*", None)),
        ("$DIR/a", ("$DIR/a", None)),
        ("src/$X/../../..", ("/home/u/proj/src/$X/../../..", None)),
        ("file:///home/u/proj/a%20b", ("/home/u/proj/a b", False)),
        ("a\u202eb", ("/home/u/proj/a\u202eb", False)),
        ("/", ("/", True)),
    ],
)
def test_a_path_has_one_form_and_lies_on_one_side(path: str, expected: tuple[str, bool | None]) -> None:
    assert place(path, WORKSPACE, folders_of(WORKSPACE, WORKSPACE)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\Users\\u\\proj\\a", ("C:/Users/u/proj/a", False)),
        ("c:/users/U/PROJ/a", ("C:/users/U/PROJ/a", False)),
        ("src\\a", ("C:/Users/u/proj/src/a", False)),
        ("..\\a", ("C:/Users/u/a", True)),
        ("/c/Users/u/proj/a", ("C:/Users/u/proj/a", False)),
        ("/mnt/c/Users/u/proj/a", ("C:/Users/u/proj/a", False)),
        ("D:\\a", ("D:/a", True)),
        ("~/a", ("C:/Users/u/a", True)),
        ("/tmp/a", ("/tmp/a", True)),
        ("file:///C:/Users/u/proj/a", ("C:/Users/u/proj/a", False)),
    ],
)
def test_a_windows_path_has_one_form_and_knows_no_capitals(path: str, expected: tuple[str, bool]) -> None:
    cwd = "C:\\Users\\u\\proj"
    assert place(path, cwd, folders_of(cwd, cwd)) == expected


def test_a_folder_that_was_added_is_not_outside() -> None:
    folders = folders_of(WORKSPACE, WORKSPACE, ("../lib", "/srv/data/"))
    assert place("/srv/data/x", WORKSPACE, folders).is_outside is False
    assert place("/srv/database", WORKSPACE, folders).is_outside is True


def test_without_a_workspace_nothing_is_outside_or_inside() -> None:
    assert [part.is_outside for part in parts_of("write", "Write", "/etc/hosts", None, None)] == [None]
    assert [part.is_outside for part in parts_of("write", "Write", "../x", "/srv/app", None)] == [True]


def test_a_home_that_the_workspace_does_not_tell_lies_outside_it() -> None:
    assert parts_of("write", "Write", "~/.bashrc", "/srv/app", "/srv/app") == (
        Part("path", "write", "~/.bashrc", is_outside=True),
    )
    assert parts_of("write", "Write", "$HOME/.bashrc", "/srv/app", "/srv/app")[0].is_outside is True


def test_the_root_folders_that_macos_links_are_the_same() -> None:
    assert place("/tmp/w/a", None, folders_of("/private/tmp/w", None)).is_outside is False


def touched(command: str) -> list[tuple[str, str]]:
    """The paths and hosts of a command, relative to the workspace where they lie in it."""
    parts = parts_of("exec", "Shell", command, WORKSPACE, WORKSPACE)
    return [(part.access, part.target.removeprefix(f"{WORKSPACE}/")) for part in parts if part.kind != "command"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a b", [("read", "a"), ("read", "b")]),
        ("head -n 5 a", [("read", "a")]),
        ("tail -n5 -f a", [("read", "a")]),
        ("grep -rn needle src docs", [("read", "src"), ("read", "docs")]),
        ("grep -e needle -- -odd", [("read", "-odd")]),
        ("rg -t py needle src", [("read", "src")]),
        ("grep -F needle a", [("read", "a")]),
        ("grep -rnA 3 needle a", [("read", "a")]),
        ("grep --color needle a", [("read", "a")]),
        ("jq -e .x a", [("read", "a")]),
        ("cat -e a", [("read", "a")]),
        ("bash -euo pipefail run.sh a", [("read", "run.sh")]),
        ("install -Dm 644 a b", [("read", "a"), ("write", "b")]),
        ("rsync -ave ssh a b", [("read", "a"), ("write", "b")]),
        ("gzip -dc a", [("read", "a")]),
        ("rg --pre unpack needle a", [("read", "a")]),
        ("docker run -d --env-file a image", [("read", "a")]),
        ("docker run --env A=1 image", []),
        ("perl -i.bak -lpe s/a/b/ a", [("write", "a")]),
        ("gsed -i s/a/b/ a", [("write", "a")]),
        ("sed -n 1,5p a", [("read", "a")]),
        ("sed -i.bak s/a/b/ a", [("write", "a")]),
        ("sed -i -e s/a/b/ a b", [("write", "a"), ("write", "b")]),
        ("sed -i '' s/a/b/ a", [("write", "a")]),
        ("find src -exec cat {} +", [("read", "src")]),
        ("awk -F: '{print $1}' a", [("read", "a")]),
        ("jq -r .x a.json", [("read", "a.json")]),
        ("cp -r a b out/", [("read", "a"), ("read", "b"), ("write", "out")]),
        ("cp -t out a b", [("write", "out"), ("read", "a"), ("read", "b")]),
        ("mv a b", [("write", "a"), ("write", "b")]),
        ("rm -rf -- -x", [("write", "-x")]),
        ("chmod -R 755 a b", [("write", "a"), ("write", "b")]),
        ("ln -s a b", [("read", "a"), ("write", "b")]),
        ("dd if=a of=b bs=1M", [("read", "a"), ("write", "b")]),
        ("tar czf a.tgz src", [("write", "a.tgz"), ("read", "src")]),
        ("tar -xzf a.tgz -C out", [("read", "a.tgz"), ("write", "out")]),
        ("find src -name '*.py' -delete", [("write", "src")]),
        ("source venv/bin/activate", [("read", "venv/bin/activate")]),
        ("python3 run.py in.txt", [("read", "run.py")]),
        ("python3 -c 'print(1)' x", []),
        ("python3 -m http.server", []),
        ("echo a > b 2> c < d", [("write", "b"), ("write", "c"), ("read", "d")]),
        ("make > /dev/null 2>&1", []),
        ("cat - < a", [("read", "a")]),
        ("for f in x; do cat; done < list > out", [("read", "list"), ("write", "out")]),
        ("cd sub && cat a", [("read", "sub/a")]),
        ("cd sub; cd ..; cat a", [("read", "a")]),
        ("cd /srv && echo > a", [("write", "/srv/a")]),
        ("cd $X && cat a", [("read", "a")]),
        ("bash -c 'cd sub && cat a' && cat b", [("read", "sub/a"), ("read", "b")]),
        ("cat a a a", [("read", "a")]),
        ("curl -o a https://x.test/b", [("write", "a"), ("net", "x.test")]),
        ("curl -H 'Host: y.test' x.test:8080/a", [("net", "x.test")]),
        ("curl -d @body.json http://[::1]:80/", [("read", "body.json"), ("net", "::1")]),
        ("wget -O a https://me@x.test/b", [("write", "a"), ("net", "x.test")]),
        ("ssh -p 22 -i key me@x.test ls", [("net", "x.test")]),
        ("scp a me@x.test:/b", [("read", "a"), ("net", "x.test")]),
        ("rsync -a x.test:/a b", [("write", "b"), ("net", "x.test")]),
        ("git clone git@x.test:me/a.git b", [("write", "b"), ("net", "x.test")]),
        ("git push https://x.test/a.git main", [("net", "x.test")]),
        ("git commit -m 'fix: a'", []),
        ("pip install git+https://x.test/a.git", [("net", "x.test")]),
        ("nc -l 4444", []),
        ("echo > /dev/tcp/192.0.2.1/80", [("net", "192.0.2.1")]),
        ("echo https://x.test", []),
    ],
)
def test_a_command_names_these_paths_and_hosts(command: str, expected: list[tuple[str, str]]) -> None:
    assert touched(command) == expected


def test_after_an_unknown_folder_nothing_is_inside_or_outside() -> None:
    parts = parts_of("exec", "Shell", "cd $X && rm ../a", WORKSPACE, WORKSPACE)
    assert [part.is_outside for part in parts if part.kind == "path"] == [None]


def test_a_folder_of_a_subshell_leaves_the_side_of_what_follows_open() -> None:
    parts = parts_of("exec", "Shell", "(cd /srv && make) && rm a; rm /etc/b", WORKSPACE, WORKSPACE)
    assert [part.is_outside for part in parts if part.kind == "path"] == [None, True]


def test_a_command_keeps_its_program_subcommand_and_wrappers() -> None:
    [part] = parts_of("exec", "Shell", "sudo env A=1 git -C x push origin main", WORKSPACE, WORKSPACE)
    assert part == Part(
        "command", "exec", "git push", "git", "push", "git -C x push origin main", "sudo env", None, None
    )


@pytest.mark.parametrize(
    ("access_class", "tool", "target", "expected"),
    [
        ("net", "Fetch", "docs.x.test", Part("host", "net", "docs.x.test")),
        ("net", "Fetch", "https://X.test:8443/a", Part("host", "net", "x.test")),
        ("net", "Search", "how to sort. quickly", Part("search", "net", "how to sort. quickly")),
        ("mcp", "mcp__forge__create_issue", "forge", Part("server", "mcp", "forge", detail="create_issue")),
        ("mcp", "mcp_forge_search", "forge", Part("server", "mcp", "forge", detail="search")),
        ("mcp", "call_tool", None, Part("server", "mcp", "call_tool", detail="call_tool")),
        ("spawn", "Task", "reviewer", Part("agent", "spawn", "reviewer")),
        ("spawn", "Task", None, Part("agent", "spawn", "")),
        ("meta", "TodoWrite", None, Part("name", "meta", "TodoWrite")),
        (None, "Unknown", None, Part("name", "meta", "Unknown")),
        ("exec", "Shell", None, Part("name", "exec", "Shell")),
        ("read", "Grep", "TODO|FIXME", Part("search", "read", "TODO|FIXME")),
        ("read", "Glob", "**/*.env", Part("search", "read", "**/*.env")),
        ("read", "Grep", "src/lib", Part("path", "read", "/home/u/proj/src/lib", is_outside=False)),
        ("read", "Read", "/etc/hosts", Part("path", "read", "/etc/hosts", is_outside=True)),
    ],
)
def test_other_calls_have_one_part(access_class: str | None, tool: str, target: str | None, expected: Part) -> None:
    assert parts_of(access_class, tool, target, WORKSPACE, WORKSPACE) == (expected,)


def test_of_too_many_parts_the_last_says_that_some_are_left_out() -> None:
    parts = parts_of("exec", "Shell", "true;" * (MOST_PARTS + 10), WORKSPACE, WORKSPACE)
    assert len(parts) == MOST_PARTS
    assert (parts[-1].target, parts[-1].detail) == ("further parts", CUT)
    exact = parts_of("exec", "Shell", "true;" * MOST_PARTS, WORKSPACE, WORKSPACE)
    assert [part.target for part in exact] == ["true"] * MOST_PARTS


ANY_TEXT = st.text(st.characters(), max_size=40) | st.text("/.~$*\\:%C{`-@=", max_size=20)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT, ANY_TEXT | st.none(), ANY_TEXT | st.none())
def test_no_path_breaks_its_one_form(path: str, workspace: str | None, cwd: str | None) -> None:
    found = place(path, cwd, folders_of(workspace, cwd))
    assert len(found.path) <= 2000
    again = place(found.path, None, folders_of(workspace, cwd))
    if found.path.startswith("/") and found.is_outside is not None:
        assert again.is_outside in {found.is_outside, None}


PROGRAMS = "cat cp mv tar dd find sed grep curl wget ssh scp git rsync jq python3 chmod"


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(PROGRAMS.split()),
    st.lists(ANY_TEXT | st.sampled_from(["-f", "-o", "--file=x", "-e", "--", "a:b", "https://x.test"]), max_size=12),
)
def test_no_words_break_the_tables(program: str, words: list[str]) -> None:
    list(files_named(program, (program, *words)))
    list(hosts_named(program, words[0] if words else None, (program, *words)))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("perl", "-d:Trace", "/h/.env"), ["/h/.env"]),
        (("perl", "-lne", "print", "f"), ["f"]),
        (("jq", "--slurp", ".", "a", ".env"), ["a", ".env"]),
        (("bash", "--rcfile", "/h/id_rsa", "-i"), ["/h/id_rsa"]),
    ],
)
def test_an_option_takes_no_word_that_is_not_its_value(words: tuple[str, ...], read: list[str]) -> None:
    assert [use.path for use in files_named(words[0], words)] == read


@pytest.mark.parametrize("option", ["--head", "--netrc"])
def test_a_flag_of_curl_does_not_stand_for_a_longer_option(option: str) -> None:
    assert list(hosts_named("curl", None, ("curl", option, "host.example/x"))) == ["host.example"]

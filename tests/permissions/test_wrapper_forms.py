"""Commands behind wrappers: audits, rules and risks see the same inner program, however the wrapper is written."""

import pytest

from aix.permissions import Call, Decision, Dialect, Rule
from aix.permissions.audit.explanation import programs_of
from aix.permissions.programs import program, programs_in
from aix.permissions.risks import load_risks
from aix.permissions.shell import split
from aix_importers.claude_code.permissions import ClaudeCodeRules
from aix_importers.cursor.permissions import CursorRules

WORKSPACE = "/home/u/proj"
REMOVAL = "rm -rf /srv/x"
WRAPPERS = """
    sudo
    sudo -u root
    sudo -uroot
    sudo -nu root
    sudo --command-timeout 5
    sudo --command-timeout=5
    sudo --comm 5
    sudo --user root --preserve-env
    sudo --u root
    sudo -E FOO=1
    sudo -u root --
    sudo -R /jail -D /tmp
    doas -n -u root
    env
    env -
    env --ignore-signal
    env --ignore-signal=INT
    env --block-signal --default-signal=PIPE
    env -i FOO=1 BAR=2
    env -u HOME -C /tmp
    env --unse HOME
    env --argv0 x
    env --u HOME
    env -S -i
    timeout 5
    timeout -s KILL 5
    timeout -k 5 --signal KILL 10
    timeout --foreground -- 5
    timeout --kill-a 5 10
    timeout --s KILL 5
    gtimeout 5
    nice
    nice -n 5
    nice -5
    nice --adjustment 5
    nice --a 5
    ionice -c 3
    ionice -c2 -n 7 -t
    ionice --class idle
    nohup
    setsid -w
    setsid --fork
    stdbuf -oL -e 0
    stdbuf --output L
    unbuffer
    caffeinate -i -t 60
    time -p
    command
    command -p --
    builtin
    noglob
    exec -a name
    busybox
    watch -n 5
    watch --interval 5 --color
    xargs
    nohup sudo -u root timeout 5 nice -n 5
    FOO=1 sudo env BAR=2
"""
"""Forms that the splitter looks through."""
RUNNERS = """
    flock /tmp/l
    flock -w 5 /tmp/l
    flock --conflict-exit-code 3 -n /tmp/l
    chrt -r 5
    chrt --sched-runtime 5 --sched-period 6 -d 0
    taskset -c 0
    taskset 0x1
    pkexec
    pkexec --user root
"""
"""Forms of programs that are commands themselves, and that rules of Claude Code look through."""
UNRULED_RUNNERS = """
    xargs -n 1 -P 4
    xargs --show-limits
    xargs -i{}
    xargs --max-args 1
    xargs --process-slot-var=S -0
    chroot --userspec u:g /jail
    unshare -r --map-users 0,1,2
    nsenter -t 1 -m
    nsenter -t 1 --wd
    start-stop-daemon --start
    pnpm -w exec
    op run --
    doppler run --
    strace -f -o /tmp/log
    strace --trace open
    ltrace -S -o /tmp/log
    systemd-run --user --on-active 5
    systemd-run -p Nice=5 --service-type exec
    script -q /tmp/log
    setpriv --reuid 5 --clear-groups
    prlimit --nofile=5
    sshpass -p word
    runuser -u ada --
    runuser -u ada
    parallel -j 4
    numactl --membind 0
    cpulimit -l 50
    proxychains -f conf
    xvfb-run -s -ac
"""
"""Forms whose inner program audits and risks see."""
NOT_RUN = """
    sudo -l
    sudo -nl
    sudo --li
    doas -C /etc/doas.conf
    ionice -p
    command -v
    nohup --help
    taskset -p
    chrt --max
"""
"""Forms with which a wrapper runs no other program."""


def forms(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def decision(dialect: Dialect, kind: str, rule: str, tool: str, command: str) -> Decision:
    rules = [Rule(kind, rule, "project", f"{WORKSPACE}/settings.json", 0, WORKSPACE)]
    return dialect.judge(rules, "/home/u").judge(Call(tool, {"command": command}, WORKSPACE)).decision


def by_claude_code(kind: str, command: str) -> Decision:
    return decision(ClaudeCodeRules(), kind, "Bash(rm:*)", "Bash", command)


def by_cursor(kind: str, command: str) -> Decision:
    return decision(CursorRules(), kind, "Shell(rm)", "Shell", command)


def audited(command: str) -> tuple[tuple[str, ...], set[str]]:
    """Return the programs that an audit lists, and the risks."""
    found = programs_of("exec", "Bash", command, WORKSPACE, load_risks(), None)
    return found.names, {risk["class"] for risk in found.risks}


@pytest.mark.parametrize("form", forms(WRAPPERS))
def test_a_wrapper_is_looked_through_by_audits_rules_and_risks(form: str) -> None:
    command = f"{form} {REMOVAL}"
    assert [each.program for each in split(command).commands] == ["rm"]
    names, risks = audited(command)
    assert names == ("rm",)
    assert "destructive" in risks
    assert by_claude_code("deny", command) is Decision.DENY
    assert by_claude_code("ask", command) is Decision.ASK
    assert by_cursor("deny", command) is Decision.DENY


@pytest.mark.parametrize("form", forms(RUNNERS))
def test_the_inner_program_of_a_runner_is_seen_by_audits_rules_and_risks(form: str) -> None:
    command = f"{form} {REMOVAL}"
    names, risks = audited(command)
    assert names == (form.split()[0], "rm")
    assert "destructive" in risks
    assert by_claude_code("deny", command) is Decision.DENY
    assert by_claude_code("ask", command) is Decision.ASK


@pytest.mark.parametrize("form", forms(UNRULED_RUNNERS))
def test_the_inner_program_of_any_runner_is_seen_by_audits_and_risks(form: str) -> None:
    names, risks = audited(f"{form} {REMOVAL}")
    assert names[-1] == "rm"
    assert "destructive" in risks
    assert by_claude_code("deny", f"{form} {REMOVAL}") is Decision.NONE


@pytest.mark.parametrize("form", forms(NOT_RUN))
def test_a_wrapper_that_runs_nothing_stands_for_itself(form: str) -> None:
    command = f"{form} {REMOVAL}"
    names, risks = audited(command)
    assert names == (form.split()[0],)
    assert "destructive" not in risks
    assert by_claude_code("deny", command) is Decision.NONE
    assert by_cursor("deny", command) is Decision.NONE


@pytest.mark.parametrize(
    ("form", "is_allowed"),
    [
        ("timeout 5", True),
        ("timeout -s KILL 5", True),
        ("timeout --kill-after=5 10", True),
        ("time -p", True),
        ("nice -n 5", True),
        ("nohup", True),
        ("stdbuf -oL", True),
        ("command", True),
        ("builtin", True),
        ("noglob", True),
        ("xargs", True),
        ("nohup timeout 5", True),
        ("NODE_ENV=test timeout 5", True),
        ("FOO=1 timeout 5", False),
        ("xargs -n 1", False),
        ("timeout --sig KILL 5", False),
        ("nice --adj 5", False),
        ("command -v", False),
        ("gtimeout 5", False),
        ("sudo", False),
        ("sudo --command-timeout 5", False),
        ("doas", False),
        ("env", False),
        ("env --ignore-signal", False),
        ("watch", False),
        ("setsid", False),
        ("ionice", False),
        ("flock /tmp/l", False),
        ("chrt -r 5", False),
        ("taskset 0x1", False),
        ("pkexec", False),
        ("exec", False),
        ("busybox", False),
        ("caffeinate", False),
        ("unbuffer", False),
        ("timeout 5 sudo", False),
    ],
)
def test_an_allow_rule_looks_through_the_wrappers_that_the_vendor_names(form: str, is_allowed: bool) -> None:  # noqa: FBT001
    wanted = Decision.ALLOW if is_allowed else Decision.NONE
    assert decision(ClaudeCodeRules(), "allow", "Bash(npm test:*)", "Bash", f"{form} npm test") is wanted


@pytest.mark.parametrize("form", ["timeout 5", "nohup", "sudo", "env"])
def test_an_allow_rule_of_cursor_takes_a_command_as_it_is_written(form: str) -> None:
    assert decision(CursorRules(), "allow", "Shell(npm)", "Shell", f"{form} npm test") is Decision.NONE
    assert decision(CursorRules(), "allow", f"Shell({form})", "Shell", f"{form} npm test") is Decision.ALLOW


@pytest.mark.parametrize("name", sorted(programs_in("wrappers") | programs_in("runners")))
def test_the_options_of_a_program_that_runs_others_do_not_contradict_one_another(name: str) -> None:
    known = program(name)
    assert not known.refusing & known.valued.keys()
    assert not known.optional & known.valued.keys()

"""A file of one's own rules: what it adds, replaces and takes away, and how it is told what is wrong."""

from pathlib import Path

import pytest

from aix.derived import cache_key
from aix.derived.cache_key import made_by_now
from aix.errors import RiskFileError
from aix.permissions.risks import Risks, load_risks
from aix.permissions.shell import split
from aix.permissions.targets import parts_of
from aix.store.manifest import EMPTY
from aix.version import RISKS_VERSION

OWN = """
dated = 2026-11-16
[risks]
production = "Touches production."
[lists]
clusters = ["prod-a", "prod-b"]
[[rule]]
id = "production-cluster"
risk = "production"
severity = "high"
program = ["kubectl"]
option = ["--context=prod-*"]
[[rule]]
id = "deploy-by-hand"
risk = "production"
severity = "low"
basis = "inferred"
program = ["deploy"]
argument = "@clusters"
[[rule]]
id = "remove"
off = true
[[rule]]
id = "remove-recursive"
risk = "destructive"
severity = "low"
program = ["rm"]
flag = ["-r"]
"""


def found(risks: Risks, command: str) -> set[tuple[str, str, str]]:
    script = split(command)
    parts = parts_of("exec", "Shell", command, "/w", "/w", script=script)
    return {(risk.risk, risk.severity, risk.basis) for risk in risks.risks_of(parts, script)}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "risks.toml"
    path.write_text(OWN, "utf-8")
    return path


def test_own_rules_add_replace_and_take_away(own: Path) -> None:
    risks = load_risks(own)
    assert found(risks, "kubectl get pods --context prod-a") == {("production", "high", "exact")}
    assert found(risks, "deploy prod-b") == {("production", "low", "inferred")}
    assert found(risks, "deploy test") == set()
    assert found(risks, "rm a") == set()
    assert found(risks, "rm -r a") == {("destructive", "low", "exact")}
    assert found(risks, "sudo id") == {("privilege", "high", "exact")}
    assert risks.names["production"] == "Touches production."


def test_what_is_kept_of_risks_is_made_anew_when_the_same_rules_give_another_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = made_by_now(EMPTY)
    monkeypatch.setattr(cache_key, "RISKS_VERSION", RISKS_VERSION + 1)
    monkeypatch.setattr(cache_key, "risk_file_digest", cache_key.risk_file_digest.__wrapped__)
    assert made_by_now(EMPTY) != before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule", "this is not TOML"),
        ("rules = 1", "there is no 'rules'"),
        ('dated = "today"', "dated must be a day"),
        ('[[rule]]\nid = "a"\nrisk = "network"\nseverity = "low"\nprogram = ["x[z-a]"]', "x[z-a] is no pattern"),
        ('[[rule]]\nrisk = "network"', "rule 1: it has no id"),
        ('[[rule]]\nid = "a"', "rule a: it fits everything"),
        ('[[rule]]\nid = "a"\nprogram = ["x"]', "rule a: it has no risk"),
        ('[[rule]]\nid = "a"\nrisk = "netwrk"\nseverity = "low"\nprogram = ["x"]', "risk cannot be 'netwrk'"),
        ('[[rule]]\nid = "a"\nrisk = "network"\nseverity = "huge"\nprogram = ["x"]', "severity cannot be 'huge'"),
        ('[[rule]]\nid = "a"\nprogramm = ["x"]', "there is no 'programm'; did you mean program?"),
        ('[[rule]]\nid = "a"\nrisk = "network"\nseverity = "low"\nprogram = [1]', "program must be a list of texts"),
        ('[[rule]]\nid = "a"\nprogram = ["x"]\npath = ["y"]', "a command and of a path at once"),
        ('[[rule]]\nid = "a"\nprogram = ["x"]\noutside = "yes"', "outside must be true or false"),
        ('[[rule]]\nid = "a"\nrisk = "network"\nseverity = "low"\nprogram = "@none"', "there is no list 'none'"),
        ('[[rule]]\nid = "a"\nrisk = "network"\nseverity = "low"\nprogram = "x"\noption = ["-v"]', "must have a value"),
        (
            '[[rule]]\nid = "a"\nrisk = "network"\nseverity = "low"\nprogram = "x"\noption = ["-v="]',
            "must have a value",
        ),
        ('[[rule]]\nid = "a"\noff = true\n[[rule]]\nid = "a"\noff = true', "two rules of that id"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_rule(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "risks.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(RiskFileError) as raised:
        load_risks(path)
    assert problem in str(raised.value)
    assert str(raised.value).startswith(str(path))
    assert raised.value.remedy


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(RiskFileError, match="No such file"):
        load_risks(tmp_path / "none.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RiskFileError, match="not a text file"):
        load_risks(tmp_path / "binary")


def test_every_rule_says_a_risk_that_is_explained_and_a_severity() -> None:
    risks = load_risks()
    assert {rule.risk for rule in risks.rules} == set(risks.names)
    assert len({rule.id for rule in risks.rules}) == len(risks.rules)

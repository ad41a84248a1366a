"""Secrets in texts are found by kind and fingerprint; what only stands for one is not."""

import re
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import aix
from aix.reading.ledger import Ledger
from tests.permissions.ledger import SECRETS as COMPOSED
from tests.support.row_batches import deliver

LETTERS = "q7ZkM4xWb9TrNd2LcVy8HsGp5JfRa3EuQwXn6BtKoYi1"
"""Made up; pieces of it are put behind the beginnings of real secrets, so that no whole one stands in this file."""
KEY_BODY = "\n".join([LETTERS + "MHcCAQEE"] * 3)


def made(start: str, length: int) -> str:
    return start + (LETTERS * (length // len(LETTERS) + 1))[:length]


SECRETS = {
    "aws-access-key": made("AKIA", 0) + "Q7ZK2M4XW9B3TRND",
    "github-token": made("ghp_", 36),
    "gitlab-token": made("glpat-", 20),
    "slack-token": made("xoxb-", 40),
    "slack-webhook": "https://hooks.slack.com/services/T0Q7ZKM4X/B0WB9TRND/" + made("", 24),
    "google-api-key": made("AIza", 35),
    "google-oauth-secret": made("GOCSPX-", 28),
    "google-oauth-token": made("ya29.", 60),
    "model-provider-key": made("sk-proj-", 48),
    "hugging-face-token": "hf_" + re.sub("[0-9]", "v", made("", 34)),
    "stripe-key": made("sk_live_", 24),
    "npm-token": made("npm_", 36),
    "pypi-token": made("pypi-AgE", 60),
    "sendgrid-key": made("SG.", 22) + "." + made("", 43),
    "digitalocean-token": "dop_v1_" + "9f3a71c2e8d045b6" * 4,
    "docker-token": made("dckr_pat_", 27),
    "age-key": "AGE-SECRET-KEY-1" + (LETTERS * 2).upper()[:58],
    "json-web-token": made("eyJ", 20) + "." + made("eyJ", 40) + "." + made("", 43),
    "private-key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY_BODY}\n-----END OPENSSH PRIVATE KEY-----",
    "address-password": "postgres://shop:" + made("", 14) + "@db.x.test/shop",
    "named-secret": 'API_KEY="' + made("", 32) + '"',
}
STAND_INS = [
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-api03-your-key-here-0000000000000000000000000",
    "ghp_" + "x" * 36,
    "api_key = <your key>",
    "api_key: ${API_KEY_FROM_THE_ENVIRONMENT_1}",
    'secret = "change-me-in-production-please-1"',
    "password=process.env.DATABASE_PASSWORD_1234",
    "token: 4f9c0f8e-5f0e-4a51-9c60-b7d2f1f0a6c3",
    "secret_key = generate_secret_key_for_user_2",
    "max_tokens=100000000000000000000",
    "-----BEGIN PRIVATE KEY-----",
    'grep -r "BEGIN RSA PRIVATE KEY-----" .',
    "postgres://postgres:postgres@localhost/x",
    "https://user:$PASSWORD@x.test",
    "https://user:<password>@x.test",
    "http://localhost:3000/@scope/package",
    "risk-assessment-of-the-whole-program-and-its-parts-1",
    "task-3f2a9c1b7d5e4f60a8b9c0d1e2f3a4b5",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
]
HUGE = {
    "eyJ": "eyJ" * 100_000,
    "sk-": "sk-" * 100_000,
    "address": "://a:" * 60_000,
    "name": "key=" * 80_000,
    "key": "-----BEGIN PRIVATE KEY-----" * 10_000,
}
QUERY = "permission_usage/secrets_seen"
LENGTH = 12

Found = dict[str, list[tuple[str, str, int]]]


def changed(secret: str) -> str:
    return secret.replace("TrNd", "TrNe").replace("TRND", "TRNE").replace("9f3a", "9f3b")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Give by message what is found in it: pattern, fingerprint, and how often."""
    texts = {
        **{f"twice {name}": f"before {secret} and again: {secret}\n" for name, secret in SECRETS.items()},
        **{f"other {name}": changed(secret) for name, secret in SECRETS.items()},
        **{f"escaped {name}": f"first\\n{secret}\\nlast".replace("\n", "\\n") for name, secret in SECRETS.items()},
        **{f"stand-in {number}": text for number, text in enumerate(STAND_INS)},
        **{f"huge {name}": f"{text} {SECRETS['github-token']}" for name, text in HUGE.items()},
        "named token": f"access_token={SECRETS['github-token']}",
    }
    messages = [
        {"id": name, "turn_id": "turn", "role": "user", "sequence": place, "created_at": 1, "content": text}
        for place, (name, text) in enumerate(texts.items())
    ]
    ledger = tmp_path_factory.mktemp("secrets") / "ledger"
    deliver(ledger, ("chat", {"turns": [{"id": "turn", "started_at": 1}], "messages": messages}))
    by_message: Found = defaultdict(list)
    with aix.open(ledger) as opened:
        for row in opened.query(QUERY).arrow().to_pylist():
            by_message[row["id"]].append((row["pattern"], row["fingerprint"], row["occurrences"]))
    return by_message


@pytest.mark.parametrize("pattern", SECRETS)
def test_a_secret_is_found_by_its_kind_wherever_it_stands(found: Found, pattern: str) -> None:
    [(kind, fingerprint, times)] = found[f"twice {pattern}"]
    assert (kind, times) == (pattern, 2)
    assert found[f"escaped {pattern}"] == [(pattern, fingerprint, 1)]


@pytest.mark.parametrize("pattern", SECRETS)
def test_a_fingerprint_tells_secrets_apart_and_gives_nothing_away(found: Found, pattern: str) -> None:
    [(_, fingerprint, _)] = found[f"twice {pattern}"]
    [(kind, other, _)] = found[f"other {pattern}"]
    assert re.fullmatch("[0-9a-f]{12}", fingerprint)
    assert kind == pattern
    assert (other == fingerprint) == (changed(SECRETS[pattern]) == SECRETS[pattern])


@pytest.mark.parametrize("number", range(len(STAND_INS)))
def test_what_only_stands_for_a_secret_is_none(found: Found, number: int) -> None:
    assert found.get(f"stand-in {number}", []) == [], STAND_INS[number]


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_text_is_read_to_its_end(found: Found, name: str) -> None:
    assert [kind for kind, _, _ in found[f"huge {name}"]] == ["github-token"]


def test_a_token_of_a_known_kind_is_not_told_again_by_its_name(found: Found) -> None:
    assert [kind for kind, _, _ in found["named token"]] == ["github-token"]


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[Ledger]:
    with aix.open(permission_ledger) as opened:
        yield opened


def test_the_secrets_of_the_fixtures_are_found_where_the_readme_says(ledger: Ledger) -> None:
    rows = [(row["pattern"], row["field"], row["id"], row["status"], row["severity"]) for row in listed(ledger)]
    assert sorted(rows) == [
        ("aws-access-key", "result", "toolu_secrets-seen_01", "alarm", "high"),
        ("github-token", "params", "toolu_secrets-seen_04", "alarm", "high"),
        ("github-token", "result", "toolu_secrets-seen_02", "alarm", "high"),
        ("private-key", "result", "toolu_secrets-seen_03", "alarm", "high"),
    ]


def test_a_fingerprint_can_be_made_by_who_has_the_secret_and_no_row_holds_it(ledger: Ledger) -> None:
    rows = listed(ledger)
    token = COMPOSED["@@GITHUB_TOKEN@@"]
    made = sha256(f"github-token:{token}".encode()).hexdigest()[:LENGTH]
    assert {row["fingerprint"] for row in rows if row["pattern"] == "github-token"} == {made}
    kept = ledger.sql("from v_secrets").rows()
    assert kept
    cells = [str(cell) for row in (*(row.values() for row in rows), *kept) for cell in row]
    assert [cell for cell in cells for secret in COMPOSED.values() if secret[:LENGTH] in cell] == []


def listed(ledger: Ledger) -> list[dict[str, object]]:
    return list(ledger.query(QUERY).arrow().to_pylist())

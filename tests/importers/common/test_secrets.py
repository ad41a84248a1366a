"""Settings that are kept, and those that are dropped as secrets."""

import json
import time

import pytest

from aix_importers.common.secrets import without_secrets

SECRETS = """
    apiKey apiKeys api_key api_keys API-KEY APIKey apiKey2 apikey key keys auth AUTH pwd pass passWord jwt pat hmac
    cookie cookies authtoken AUTHTOKEN accesstoken accessToken accessTokens token tokens OPENAI_KEY openaiKey
    clientSecret connectionString connection_string dsn webhook_url
    webhookUrl password passphrase credentials Authorization
    pw access_code accessCode sas mnemonic seedPhrase
    x-api-key cf-aig-authorization privateKey SSH_PRIVATE_KEY tokenValue secret_2 dbPassword refresh-token
    dbpass rootpw authtok tkn psk authentication passwort
"""
HARMLESS = """
    maxTokens max_tokens tokenizer keyboard keywords passThrough passthrough temperature author authority path pattern
    compass bypass hotkey monkey primaryKey cacheKey keyBindings authType tokenType name model topP seed owner
    currentSession systemPrompt onBehalfOf defaultModel
"""


@pytest.mark.parametrize("value", ["plain", 5, 2.5, ["plain"], {"inner": "plain"}, "${TOK:-default}", "${A}${B}", "$X"])
@pytest.mark.parametrize("name", SECRETS.split())
def test_whatever_has_the_name_of_a_secret_is_dropped(name: str, value: object) -> None:
    assert without_secrets({name: value, "kept": [{name: value}]}) == {"kept": [{}]}


@pytest.mark.parametrize("value", ["${NAME}", " ${api_key_2} ", "Bearer ${NAME}", None, True, False])
@pytest.mark.parametrize("name", SECRETS.split())
def test_a_plain_reference_is_no_secret(name: str, value: object) -> None:
    assert without_secrets({name: value}) == {name: value}


@pytest.mark.parametrize("name", HARMLESS.split())
def test_a_harmless_name_is_kept(name: str) -> None:
    assert without_secrets({name: 4000}) == {name: 4000}


@pytest.mark.parametrize("name", ["maxTokens", "max_tokens", "maxtokens", "tokenLimit", "tokensPerMinute"])
def test_of_tokens_only_counts_are_kept(name: str) -> None:
    assert without_secrets({name: "4000"}) == {name: "4000"}
    assert without_secrets({name: "a-secret"}) == {}


@pytest.mark.parametrize(
    "value",
    [
        "https://u:SECRET@h/",
        "postgres://u:SEC/RET@h:5432/db",
        "https://SECRET@github.com/x.git",
        "https://h/?a=b&api_key=SECRET",
        "https://hooks.slack.com/services/T0/B0/x",
        "Server=h;Database=d;Pwd=SECRET;",
        "https://api.telegram.org/bot123456:AAabcdefghij/send",
        "curl -u ada:SECRET https://h",
        "mnemonic: correct horse battery",
        "Bearer xyz",
        "bearer xyz",
        "Basic dXNlcjpwYXNz",
        "Authorization: Bearer xyz",
        "x-api-key: SECRET",
        "Cookie: a=b; c=d",
        "OPENAI_KEY=SECRET",
        "--token=SECRET",
        "npx server --api-key SECRET --verbose",
        "curl -H 'Authorization: Bearer xyz' h",
        'read {"apiKey": "SECRET"} first',
        "sk-abc",
        "sk-ant-REDACTED",
        "Use sk-proj-abcdefghijklmnop for this.",
        "ghp_abcdefghijklmnop",
        "github_pat_11ABCDEF",
        "${ghp_abcdefghijklmnop}",
        "${TOK:-default}",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456-abcdef",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
        "-----BEGIN RSA PRIVATE KEY-----\nMII",
        "curl -H 'x-api-key: SECRET' h",
        "provider: cf\napi_key: 5ecret-of-cf\n",
        "host: x\npassword: SECRET",
        "whsec_abcdefghijklmnop",
    ],
)
def test_a_text_that_is_or_holds_a_secret_is_dropped(value: str) -> None:
    assert without_secrets({"x": value, "y": [value, "kept"], "z": {value: 1}}) == {"y": ["kept"], "z": {}}


@pytest.mark.parametrize(
    "value",
    [
        "https://host:8080/path/@scope",
        "https://registry.npmjs.org/@scope/pkg",
        "ssh://git@github.com/x.git",
        "ada@example.org",
        "You are a helper. Keep tokens and keys safe: never print a password.",
        "Say key=value when asked; a bearer token is a secret.",
        "tokens:read",
        "task-force-of-many-people",
        "Hello ${user.name}, welcome",
        "@(claude-balanced)",
        "--max-tokens 4000",
        "mode=fast",
        "auth: add login page",
        "Token: fix the parser",
        "Stack:\nAuth: JWT\nKey: none",
        "curl -H 'accept: json' h",
        "docker run -u 1000:1000 image",
        "claude-sonnet-4-5-20250929",
        "0b9f6f8e-6a3f-4d3e-9a53-1f2f7a9b1c11",
    ],
)
def test_a_harmless_text_is_kept(value: str) -> None:
    assert without_secrets({"x": value, "y": [value]}) == {"x": value, "y": [value]}


def test_a_value_beside_its_name_is_judged_by_that_name() -> None:
    headers = [
        {"name": "Authorization", "value": "xyz"},
        {"key": "X-Api-Key", "value": "xyz"},
        {"Name": "password", "Value": 5},
        {"name": "accept", "value": "json"},
        {"key": "accept", "value": "json"},
        {"name": "token", "value": "${TOKEN}"},
        {"name": "n", "key": "xyz", "value": "v"},
        {"field": "apiKey", "oldValue": "x", "newValue": "y"},
        {"path": "config.apiKey", "value": "x"},
        {"setting": "apiKey", "value": "x"},
        {"path": "src/auth/token.py", "content": "v"},
        {"type": "json", "key": "title"},
        {"type": "apiKey", "key": "xyz"},
        {"type": "json_key_exists", "key": "title"},
        {"type": "file_contains", "path": "src/auth.py", "value": "def login"},
        {"k": "x-api-key", "v": "xyz"},
    ]
    assert without_secrets({"headers": headers}) == {
        "headers": [
            {"name": "Authorization"},
            {"key": "X-Api-Key"},
            {"Name": "password"},
            {"name": "accept", "value": "json"},
            {"key": "accept", "value": "json"},
            {"name": "token", "value": "${TOKEN}"},
            {"name": "n", "value": "v"},
            {"field": "apiKey"},
            {"path": "config.apiKey"},
            {"setting": "apiKey"},
            {"path": "src/auth/token.py", "content": "v"},
            {"type": "json", "key": "title"},
            {"type": "apiKey"},
            {"type": "json_key_exists", "key": "title"},
            {"type": "file_contains", "path": "src/auth.py", "value": "def login"},
            {"k": "x-api-key"},
        ]
    }


def test_what_follows_a_flag_or_the_name_of_a_header_is_judged_by_it() -> None:
    config = {
        "args": ["run", "--api-key", "xyz", "--depth", "3", "-u", "ada:xyz", "-u", "1000:1000"],
        "headers": [["X-Api-Key", "xyz"], ["accept", "json"]],
    }
    assert without_secrets(config) == {
        "args": ["run", "--api-key", "--depth", "3", "-u", "-u", "1000:1000"],
        "headers": [["X-Api-Key"], ["accept", "json"]],
    }


@pytest.mark.parametrize("piece", ["a", "://a:", "--a ", "a=", " ", "${a", "eyJ", 'key"', "bearer ", "-", "&a"])
def test_no_text_takes_long(piece: str) -> None:
    started = time.monotonic()
    json.dumps(without_secrets({"x": piece * (200_000 // len(piece))}))
    assert time.monotonic() - started < 5

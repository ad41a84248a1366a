"""The file of risk rules that AIX brings along, told without reading its rules."""

from functools import cache
from hashlib import sha256
from pathlib import Path

RISK_FILE = Path(__file__).with_name("risks.toml")


@cache
def risk_file_digest() -> str:
    """Return what changes when the file does."""
    return sha256(RISK_FILE.read_bytes()).hexdigest()[:16]

"""Rules on what calls may do, and the targets and risks of calls."""

from aix.permissions.contract import Call, Decision, Dialect, Judge, Rule, Verdict
from aix.permissions.homes import home_of

__all__ = ["Call", "Decision", "Dialect", "Judge", "Rule", "Verdict", "home_of"]

"""Decisions of Claude Code's permission rules, as its documentation describes them."""

from aix_importers.claude_code.permissions.dialect import ClaudeCodeRules

__all__ = ["ClaudeCodeRules"]

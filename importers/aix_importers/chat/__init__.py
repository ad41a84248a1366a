"""Chats between people and agents: exports of users, agents, conversations, participants and messages."""

from aix_importers.chat.importer import ChatImporter

__all__ = ["ChatImporter"]

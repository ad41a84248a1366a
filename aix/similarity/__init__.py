"""Turns, sessions and programs that are like a text or like each other."""

"""Redaction: texts that leave the machine without secrets and without names of people and machines."""

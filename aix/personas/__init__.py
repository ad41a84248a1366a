"""Personas: who an agent is and what it may do, as a file of the user says, and which sessions that holds for."""

"""Reads agent graphs: events, nodes and edges as JSON lines."""

from aix_importers.agent_dag.importer import AgentDagImporter

__all__ = ["AgentDagImporter"]

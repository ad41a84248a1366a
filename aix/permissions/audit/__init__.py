"""Audits: the findings of a pack of audit queries, compared with an earlier run, in the forms that people and CI read.

An audit query returns `resource`, `status`, `reason` and `severity`, then dimensions; each row that says `alarm` is a
finding. A query of the pack without `status` is an inventory.
"""

"""Reading a ledger: one version, SQL that cannot write or look elsewhere, and results in every common form."""

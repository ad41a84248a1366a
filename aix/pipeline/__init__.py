"""The import pipeline: find sources, plan, read them in workers, commit the rows."""

"""Reports to look at: figures, charts and tables of several queries on one page.

`definition` reads the TOML file of a report, `library` finds it, `report` runs its queries, and `html`, `markdown` and
`json` write the result. `page/` holds the style sheet, the script and the library of charts of the HTML page.
"""

"""How fast the package is, beside other engines where they are installed: what `nardy bench` measures.

`tasks` says what is measured, `contest` how, `positions` on what, `peers` against whom. Printing is the command's.
"""

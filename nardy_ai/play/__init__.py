"""Games: many at once in lockstep, for learning (`selfplay`) and for measuring (`arena`)."""

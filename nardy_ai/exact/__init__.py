"""Values that are right: bearoff tables, and whole games small enough to be solved."""

"""Reports as HTML: one file each that needs nothing else, for a screen, a printer or a screen reader."""

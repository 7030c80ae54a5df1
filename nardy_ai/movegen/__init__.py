"""Legal plays: compiled kernels, the typed adapter in front of them, and a slow twin that is obviously right."""

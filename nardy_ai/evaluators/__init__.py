"""What judges boards: the protocols, networks, baselines, and outside engines as optional peers."""

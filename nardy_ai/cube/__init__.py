"""The cube: its state, match equity, and what positions are worth with it by formula; docs/cube.md has them all."""

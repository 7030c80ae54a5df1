"""Training: configs, targets, the learner in torch, the loop that plays and learns, and what lets it resume."""

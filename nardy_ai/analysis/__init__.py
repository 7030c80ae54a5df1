"""What a match, played and written down, was worth: every decision against a bot's best, and the luck of every roll."""

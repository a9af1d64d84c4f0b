"""The night's baking sheet."""

"""Replays eleven months of production and holds the claims against what the contract gives."""

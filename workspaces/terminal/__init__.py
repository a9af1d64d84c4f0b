"""Terminals: the byte stream with its sequence numbers, its record, and who may slow or see it."""

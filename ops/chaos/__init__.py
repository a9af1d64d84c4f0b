"""The fault test, `make chaos`: people work, parts of the product are killed under them, an auditor counts."""

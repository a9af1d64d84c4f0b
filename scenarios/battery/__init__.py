"""The common battery of bypasses: attempts to cheat that are played against every scenario (see ``entries/``).

Nothing here knows any scenario, and nothing here is imported by the product: entries are read as text and run inside
sandboxes only, on the sandbox's own Python. ``fdegym.authoring.battery`` plays them.
"""

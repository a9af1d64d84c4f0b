"""A small bakery, its people, and a system of one command: the scenario to learn the moves on."""

"""One process per host that owns sandboxes and terminals. Knows neither database nor Django."""

"""Admission: everything that must hold of a scenario before anybody is measured with it, played, measured and written."""

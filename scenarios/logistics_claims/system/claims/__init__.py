"""Claims desk of Quillon Freight."""

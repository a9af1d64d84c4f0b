"""pager: compiles the routing table of the pager gateway."""

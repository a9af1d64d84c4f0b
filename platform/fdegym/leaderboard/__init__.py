"""Who stands where: the ranking rule, the queries behind it, the boards."""

"""Who uses the site: people, their roles, how they sign in."""

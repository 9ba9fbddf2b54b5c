"""A game in progress with a person, for any front end."""

"""The rules. `interface.py` says what a game is; each game is one module."""

GAMES = ("connect_four", "paco_sako")

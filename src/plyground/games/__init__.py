"""The games. `interface.py` is the contract; each game has a folder for all that is particular to it."""

GAMES = ("connect_four", "chess", "paco_sako", "sequence")

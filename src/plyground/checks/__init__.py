"""The laws of the game contract and the speed of the rules, for any game."""

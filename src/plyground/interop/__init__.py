"""Other people's interfaces on top of ours."""

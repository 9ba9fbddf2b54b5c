"""More machines: self-play actors and tasks on a Ray cluster (extra `ray`). One machine needs none of this."""

"""Learning from a teacher: datasets of its judgements, imitation, and the proof that something was learned."""

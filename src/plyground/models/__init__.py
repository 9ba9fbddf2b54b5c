"""Models judge positions by weights. A search takes a model; an agent is a model, a search and a way to choose."""

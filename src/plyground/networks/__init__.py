"""Networks in PyTorch, made by spec (`make.py`), and the policies that their outputs are (`policies.py`)."""

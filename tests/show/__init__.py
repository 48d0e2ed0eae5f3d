"""Pictures of outputs and automata."""

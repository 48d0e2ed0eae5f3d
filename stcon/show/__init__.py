"""Looking instead of reading: what was forced in an output, and automata."""

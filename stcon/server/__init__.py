"""mlx-lm's server, with formats: ``python -m stcon serve``."""

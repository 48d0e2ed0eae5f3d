"""``python -m stcon doctor``: whether everything works on the machine at hand."""

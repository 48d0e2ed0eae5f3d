"""The kernels: constraints on a GPU, several grammars in one launch.

A file a kernel: its text, what it is launched with, a twin in plain operations with
the same bits, and cases.  The text is written once, in the language of Metal, and
runs as CUDA as well (``stcon/cuda``).  Where mlx computes on the CPU a kernel's
function is its twin.  ``python -m stcon doctor`` runs every case on the machine at
hand; docs/kernels.md says what is known without one.
"""

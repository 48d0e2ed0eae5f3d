"""Runs the kernels' very text on a CPU, without Metal.

The text is the one that mlx itself would hand to Apple's compiler (``text.py``).  It is
type-checked with address spaces by clang (``strict.py``) and compiled as C++ and run,
a grid at a time, under several orders of threads (``runner.py``).  Only what the
kernels of stcon use is here: no threadgroup memory, no barriers, ``simd_sum`` as the
only operation of a SIMD group.  Not part of the wheel.
"""

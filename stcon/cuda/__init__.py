"""The text of the kernels as CUDA: what Metal has and CUDA lacks, in macros."""

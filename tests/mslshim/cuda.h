// What CUDA's own headers give a kernel, as far as the prelude of stcon/cuda asks for it.
#pragma once
#include "msl.h"
#define __device__
static uint3 blockIdx, blockDim, threadIdx;
inline uint3 make_uint3(uint x, uint y, uint z) { return {x, y, z}; }
inline float __int_as_float(uint bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

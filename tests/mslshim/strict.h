// The part of the Metal Shading Language that stcon's kernels use, for clang's C++ for
// OpenCL: the nearest relative of Metal in a stock compiler, with real address spaces,
// half, no double, no generic pointers, no function pointers.
#pragma once
#define device __global
#define thread __private
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef half float16_t;
typedef __bf16 bfloat16_t;
typedef uint uint3 __attribute__((ext_vector_type(3)));
#define INFINITY __builtin_inff()
float simd_sum(float);

// The part of the Metal Shading Language that stcon's kernels use, as C++17: types,
// simd_sum, and a loop over the grid in several orders. A SIMD group whose lanes meet
// in simd_sum runs as 32 contexts; lanes that meet at different lines are an error.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

typedef unsigned int uint;
typedef unsigned short ushort;
typedef _Float16 half;
typedef half float16_t;
#undef INFINITY
#define INFINITY __builtin_inff()

// As in Metal: from bfloat to float by itself, the other way only by a cast.
struct bfloat {
  uint16_t bits;
  bfloat() = default;
  explicit bfloat(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    bits = (u & 0x7fffffffu) > 0x7f800000u ? uint16_t(u >> 16 | 0x40)
                                           : uint16_t((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  operator float() const {
    uint32_t u = uint32_t(bits) << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
};
typedef bfloat bfloat16_t;

struct uint3 {
  uint x, y, z;
};

namespace shim {
struct Place {
  uint3 in_grid, in_group, group, size;
  uint lane;
};
typedef void (*Entry)(void** buffers, const Place&);
enum State { READY, WAITS, DONE };
struct Lane {
  ucontext_t context;
  Place place;
  State state;
  float value;
  int line;
};
struct Group {
  Lane lanes[32];
  int size, running;
  ucontext_t back;
  Entry entry;
  void** buffers;
};
const size_t STACK = 128 * 1024;
static Group group;
static char stacks[32][STACK];

[[noreturn]] inline void fail(const char* what, int line) {
  fprintf(stderr, "shim: %s at line %d\n", what, line);
  exit(3);
}

inline void lane_main() {
  Lane& lane = group.lanes[group.running];
  group.entry(group.buffers, lane.place);
  lane.state = DONE;
  swapcontext(&lane.context, &group.back);
}

// The sum that lanes have reached, in the order of Apple's butterfly (xor 1, 2, 4, 8, 16).
inline float sum_of_waiting() {
  float sums[32];
  int line = -1;
  for (int i = 0; i < 32; i++) {
    const Lane& lane = group.lanes[i];
    const bool waits = i < group.size && lane.state == WAITS;
    sums[i] = waits ? lane.value : 0.0f;
    if (waits && line >= 0 && lane.line != line) fail("lanes part before simd_sum", line);
    if (waits) line = lane.line;
  }
  for (int k = 1; k < 32; k *= 2)
    for (int i = 0; i < 32; i += 2 * k) sums[i] = sums[i] + sums[i + k];
  return sums[0];
}

struct Random {
  uint64_t state;
  uint operator()(uint below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint(state >> 33) % below;
  }
};

inline void shuffle(uint* order, uint count, int schedule, Random& random) {
  for (uint i = 0; i < count; i++) order[i] = schedule == 1 ? count - 1 - i : i;
  if (schedule >= 2)
    for (uint i = count; i > 1; i--) {
      const uint other = random(i), kept = order[i - 1];
      order[i - 1] = order[other];
      order[other] = kept;
    }
}

inline void run_group(Entry entry, void** buffers, const Place* places, int size,
                      int schedule, Random& random) {
  group.size = size, group.entry = entry, group.buffers = buffers;
  for (int i = 0; i < size; i++) {
    Lane& lane = group.lanes[i];
    lane.place = places[i], lane.state = READY;
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = stacks[i];
    lane.context.uc_stack.ss_size = STACK;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, lane_main, 0);
  }
  for (bool waits = true; waits;) {
    uint order[32];
    shuffle(order, uint(size), schedule, random);
    for (int i = 0; i < size; i++) {
      group.running = int(order[i]);
      Lane& lane = group.lanes[group.running];
      if (lane.state == READY) swapcontext(&group.back, &lane.context);
    }
    const float sum = sum_of_waiting();
    waits = false;
    for (int i = 0; i < size; i++) {
      Lane& lane = group.lanes[i];
      if (lane.state != WAITS) continue;
      lane.value = sum, lane.state = READY, waits = true;
    }
  }
}

// The whole grid, a threadgroup after the other; the last one of an axis may be smaller,
// as on a device.
inline void run(Entry entry, void** buffers, const uint* grid, const uint* threads,
                bool meets, int schedule) {
  Random random{uint64_t(schedule) * 977u + 1u};
  uint size[3], groups[3];
  for (int i = 0; i < 3; i++) {
    size[i] = threads[i] < grid[i] ? threads[i] : grid[i];
    groups[i] = (grid[i] + size[i] - 1) / size[i];
  }
  const uint count = groups[0] * groups[1] * groups[2];
  const uint most = size[0] * size[1] * size[2];
  if (most > 1024) fail("more than 1024 threads in a threadgroup", 0);
  uint* order = (uint*)malloc(count * sizeof(uint));
  uint* inner = (uint*)malloc(most * sizeof(uint));
  Place* places = (Place*)malloc(most * sizeof(Place));
  shuffle(order, count, schedule, random);
  for (uint g = 0; g < count; g++) {
    const uint at[3] = {order[g] % groups[0], order[g] / groups[0] % groups[1],
                        order[g] / (groups[0] * groups[1])};
    uint here[3];
    for (int i = 0; i < 3; i++) {
      const uint left = grid[i] - at[i] * size[i];
      here[i] = left < size[i] ? left : size[i];
    }
    const uint here_count = here[0] * here[1] * here[2];
    for (uint t = 0; t < here_count; t++) {
      const uint x = t % here[0], y = t / here[0] % here[1], z = t / (here[0] * here[1]);
      places[t] = {{at[0] * size[0] + x, at[1] * size[1] + y, at[2] * size[2] + z},
                   {x, y, z}, {at[0], at[1], at[2]}, {size[0], size[1], size[2]}, t % 32};
    }
    if (!meets) {
      shuffle(inner, here_count, schedule, random);
      for (uint t = 0; t < here_count; t++) entry(buffers, places[inner[t]]);
      continue;
    }
    const uint simds = (here_count + 31) / 32;
    shuffle(inner, simds, schedule, random);
    for (uint s = 0; s < simds; s++) {
      const uint first = inner[s] * 32, left = here_count - first;
      run_group(entry, buffers, places + first, int(left < 32 ? left : 32), schedule,
                random);
    }
  }
  free(order), free(inner), free(places);
}
}  // namespace shim

inline float simd_sum(float value, int line = __builtin_LINE()) {
  shim::Lane& lane = shim::group.lanes[shim::group.running];
  lane.value = value, lane.line = line, lane.state = shim::WAITS;
  swapcontext(&lane.context, &shim::group.back);
  return lane.value;
}

// Words of the language from here on; nothing may be included after them.
#define device
#define constant
#define thread
#pragma GCC poison double goto

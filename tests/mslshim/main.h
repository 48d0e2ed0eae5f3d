// Reads a launch from a file, runs it under each schedule, and writes the outputs back
// if they are the same bits under all of them. Every buffer is an allocation of its own,
// so that a sanitizer sees a read beyond its end.
static char* read_all(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  const size_t size = size_t(ftell(file));
  rewind(file);
  char* data = (char*)malloc(size + 1);
  if (fread(data, 1, size, file) != size) exit(2);
  fclose(file);
  return data;
}

// int64: inputs, outputs, schedules, meets, grid [3], threads [3], bytes of each
// buffer; then the inputs.
int main(int, char** arguments) {
  char* data = read_all(arguments[1]);
  const int64_t* head = (const int64_t*)data;
  const int64_t inputs = head[0], outputs = head[1], schedules = head[2];
  uint grid[3], threads[3];
  for (int i = 0; i < 3; i++) grid[i] = uint(head[4 + i]), threads[i] = uint(head[7 + i]);
  const int64_t* sizes = head + 10;
  const char* from = (const char*)(sizes + inputs + outputs);
  void* buffers[32];
  char* first[32];
  for (int64_t i = 0; i < inputs; from += sizes[i++]) {
    buffers[i] = malloc(size_t(sizes[i]));
    memcpy(buffers[i], from, size_t(sizes[i]));
  }
  for (int64_t schedule = 0; schedule < schedules; schedule++) {
    const int fill = 0xff - 0x35 * int(schedule);
    for (int64_t i = inputs; i < inputs + outputs; i++) {
      buffers[i] = memset(malloc(size_t(sizes[i])), fill, size_t(sizes[i]));
    }
    shim::run(entry, buffers, grid, threads, head[3] != 0, int(schedule));
    for (int64_t i = inputs; i < inputs + outputs; i++) {
      if (!schedule) { first[i] = (char*)buffers[i]; continue; }
      if (memcmp(first[i], buffers[i], size_t(sizes[i]))) {
        fprintf(stderr, "shim: output %d depends on the order of threads, or is not "
                        "wholly written\n", int(i - inputs));
        return 4;
      }
      free(buffers[i]);
    }
  }
  FILE* file = fopen(arguments[1], "wb");
  for (int64_t i = inputs; i < inputs + outputs; i++) {
    fwrite(first[i], 1, size_t(sizes[i]), file);
  }
  fclose(file);
  return 0;
}

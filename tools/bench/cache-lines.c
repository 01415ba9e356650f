// A plugin of QEMU (user mode, API version 1) that notes, between two marks, which cache lines of 64 bytes the first thread of a
// process touches, in which order, and how many instructions each block of code runs. The mark is a byte of a file: 1 begins, 2
// ends, and then the process stops itself (SIGSTOP), so that its memory can be read.
//
//   -plugin cache-lines.so,mark=FILE,out=FOLDER
//
// In the folder: "lines", one each in the order of their first touch (address; 1 read, 2 written, 4 run), and "blocks"
// (address, instructions run).
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What is used of qemu-plugin.h, which Debian does not package.
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                             int, void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
extern bool qemu_plugin_mem_is_store(uint32_t);
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3, FIRST_THREAD = 0, READ = 1, WRITTEN = 2, RUN = 4, LINE_BITS = 6 };

struct block {
  uint64_t address;
  unsigned bytes;
  unsigned instructions;
  uint64_t runs;
  struct block *next;
};

#define SLOTS (1 << 20)
static struct {
  uint64_t line;
  uint32_t order;
  uint8_t kind;
} touched[SLOTS];
static uint32_t lines;
static struct block *blocks;
static volatile unsigned char *mark;
static char out[4096];
static bool counting;

static void touch(uint64_t line, int kind) {
  uint64_t slot = (line * 0x9E3779B97F4A7C15ull) >> 44;
  while (touched[slot].line != 0 && touched[slot].line != line) slot = (slot + 1) & (SLOTS - 1);
  if (touched[slot].line == 0) {
    touched[slot].line = line;
    touched[slot].order = lines++;
  }
  touched[slot].kind |= kind;
}

static int by_order(const void *a, const void *b) {
  uint32_t x = touched[*(const uint32_t *)a].order, y = touched[*(const uint32_t *)b].order;
  return x < y ? -1 : 1;
}

static FILE *create(const char *name) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", out, name);
  return fopen(path, "w");
}

static void begin(void) {
  memset(touched, 0, sizeof touched);
  lines = 0;
  for (struct block *b = blocks; b != NULL; b = b->next) b->runs = 0;
  counting = true;
}

static void end(void) {
  counting = false;
  uint32_t *slots = malloc(lines * sizeof *slots), count = 0;
  for (uint32_t i = 0; i < SLOTS; i++)
    if (touched[i].line != 0) slots[count++] = i;
  qsort(slots, count, sizeof *slots, by_order);
  FILE *file = create("lines");
  for (uint32_t i = 0; i < count; i++)
    fprintf(file, "%llx %d\n", (unsigned long long)(touched[slots[i]].line << LINE_BITS), touched[slots[i]].kind);
  fclose(file);
  free(slots);
  file = create("blocks");
  for (struct block *b = blocks; b != NULL; b = b->next)
    if (b->runs > 0) fprintf(file, "%llx %llu\n", (unsigned long long)b->address, (unsigned long long)(b->runs * b->instructions));
  fclose(file);
  *mark = 0;
  kill(getpid(), SIGSTOP);
}

static void on_memory(unsigned thread, uint32_t info, uint64_t address, void *data) {
  (void)data;
  if (counting && thread == FIRST_THREAD) touch(address >> LINE_BITS, qemu_plugin_mem_is_store(info) ? WRITTEN : READ);
}

static void on_block(unsigned thread, void *data) {
  if (thread != FIRST_THREAD) return;
  if (*mark == 1 && !counting) begin();
  else if (*mark == 2 && counting) end();
  if (!counting) return;
  struct block *block = data;
  block->runs++;
  for (uint64_t line = block->address >> LINE_BITS; line <= (block->address + block->bytes - 1) >> LINE_BITS; line++)
    touch(line, RUN);
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *translated) {
  (void)id;
  struct block *block = calloc(1, sizeof *block);
  block->address = qemu_plugin_tb_vaddr(translated);
  block->instructions = qemu_plugin_tb_n_insns(translated);
  for (size_t i = 0; i < block->instructions; i++) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
    block->bytes += qemu_plugin_insn_size(instruction);
    qemu_plugin_register_vcpu_mem_cb(instruction, on_memory, NO_REGISTERS, READS_AND_WRITES, NULL);
  }
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(translated, on_block, NO_REGISTERS, block);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (strncmp(argv[i], "out=", 4) == 0) snprintf(out, sizeof out, "%s", argv[i] + 4);
    if (strncmp(argv[i], "mark=", 5) != 0) continue;
    int file = open(argv[i] + 5, O_RDWR);
    mark = file < 0 ? NULL : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (mark == NULL || mark == MAP_FAILED || out[0] == '\0') return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  return 0;
}

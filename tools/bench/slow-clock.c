// Preloaded into a program that an emulator runs: its clocks go a twentieth as fast, about as much slower as it is itself. So what
// it does by the time that something took, it does as it would on a processor.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SLOWER = 20, CLOCKS = 8 };
static struct timespec began[CLOCKS];

static int is_slowed(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME;
}

__attribute__((constructor)) static void begin(void) {
  for (clockid_t clock = 0; clock < CLOCKS; clock++) syscall(SYS_clock_gettime, clock, &began[clock]);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock == CLOCK_MONOTONIC_COARSE) clock = CLOCK_MONOTONIC;
  if (clock == CLOCK_REALTIME_COARSE) clock = CLOCK_REALTIME;
  int failed = syscall(SYS_clock_gettime, clock, time);
  if (failed || !is_slowed(clock)) return failed;
  const struct timespec *start = &began[clock];
  long long passed = (time->tv_sec - start->tv_sec) * 1000000000ll + (time->tv_nsec - start->tv_nsec);
  long long at = start->tv_nsec + passed / SLOWER;
  time->tv_sec = start->tv_sec + at / 1000000000ll;
  time->tv_nsec = at % 1000000000ll;
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

/* The one clock of this server: CLOCK_MONOTONIC, which is Python's time.monotonic_ns() on Linux. */
#ifndef TRUTH_CLOCK_H
#define TRUTH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

static inline int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

#endif

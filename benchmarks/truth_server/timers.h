/* Deadlines of connections, soonest first. */
#ifndef TRUTH_TIMERS_H
#define TRUTH_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

struct connection;

struct timer {
    int64_t due;
    struct connection *connection;
    /* A connection is used again after it was closed: a timer of its former life must not fire. */
    uint32_t generation;
};

void timers_add(struct timer timer);

/* The soonest deadline, or `otherwise` when there is none. */
int64_t timers_next(int64_t otherwise);

/* Take the soonest timer that is due at `now`; false when none is. */
bool timers_take(int64_t now, struct timer *taken);

#endif

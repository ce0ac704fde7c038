#include "timers.h"

#include <stdio.h>
#include <stdlib.h>

/* A binary heap: heap[0] is the soonest. */
static struct timer *heap;
static size_t count;
static size_t capacity;

void timers_add(struct timer timer)
{
    if (count == capacity) {
        capacity = capacity ? capacity * 2 : 1024;
        heap = realloc(heap, capacity * sizeof *heap);
        if (heap == NULL) {
            perror("truth_server: out of memory");
            exit(1);
        }
    }
    size_t hole = count++;
    while (hole > 0) {
        size_t parent = (hole - 1) / 2;
        if (heap[parent].due <= timer.due)
            break;
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = timer;
}

int64_t timers_next(int64_t otherwise)
{
    return count ? heap[0].due : otherwise;
}

static void sift_down(struct timer moved)
{
    size_t hole = 0;
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= count)
            break;
        if (child + 1 < count && heap[child + 1].due < heap[child].due)
            child++;
        if (moved.due <= heap[child].due)
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = moved;
}

bool timers_take(int64_t now, struct timer *taken)
{
    if (count == 0 || heap[0].due > now)
        return false;
    *taken = heap[0];
    struct timer last = heap[--count];
    if (count > 0)
        sift_down(last);
    return true;
}

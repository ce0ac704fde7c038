/* A byte buffer that grows; running out of memory ends the program. */
#ifndef TRUTH_BUFFER_H
#define TRUTH_BUFFER_H

#include <stddef.h>

struct buffer {
    char *data;
    size_t length;
    size_t capacity;
};

/* Make room for `extra` bytes behind the content. */
void buffer_reserve(struct buffer *b, size_t extra);

void buffer_append(struct buffer *b, const void *bytes, size_t count);

void buffer_print(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forget the first `count` bytes. */
void buffer_drop(struct buffer *b, size_t count);

#endif

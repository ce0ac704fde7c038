#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_reserve(struct buffer *b, size_t extra)
{
    size_t needed = b->length + extra;
    if (needed <= b->capacity)
        return;
    b->capacity = needed * 2;
    b->data = realloc(b->data, b->capacity);
    if (b->data == NULL) {
        perror("truth_server: out of memory");
        exit(1);
    }
}

void buffer_append(struct buffer *b, const void *bytes, size_t count)
{
    buffer_reserve(b, count);
    memcpy(b->data + b->length, bytes, count);
    b->length += count;
}

void buffer_print(struct buffer *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);

    buffer_reserve(b, (size_t)count + 1);
    va_start(arguments, format);
    vsnprintf(b->data + b->length, (size_t)count + 1, format, arguments);
    va_end(arguments);
    b->length += (size_t)count;
}

void buffer_drop(struct buffer *b, size_t count)
{
    memmove(b->data, b->data + count, b->length - count);
    b->length -= count;
}

/* A streamed reply, and the helpers that it shares with one that is not streamed. */
#ifndef TRUTH_STREAM_H
#define TRUTH_STREAM_H

#include "connection.h"

/* Send what comes at once, long before the first token. */
void stream_open_early(struct connection *c);

/* The exchange's timer fired. */
void stream_advance(struct connection *c);

/* From 0 to just under 1. */
double reply_random(void);

void reply_schedule(struct connection *c, enum phase phase, int64_t due);

/* Tell whether the fault replaces the whole response. */
bool reply_has_own_body(const struct exchange *x);
void reply_own_body(struct connection *c);

/* Write what is in `out`; false, and the request is logged, when the connection broke. */
bool reply_send(struct connection *c);

/* Log the request and be ready for the next one. */
void reply_finish(struct connection *c);

/* Log the request and drop the connection in the middle of the reply. */
void reply_break_off(struct connection *c);

/* One more byte of an endless reply. */
void reply_drip(struct connection *c, bool chunked);

#endif

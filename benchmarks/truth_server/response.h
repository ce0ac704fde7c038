/* HTTP/1.1 framing of responses, into the connection's out buffer. */
#ifndef TRUTH_RESPONSE_H
#define TRUTH_RESPONSE_H

#include "connection.h"

/* A complete response. */
void response_whole(struct connection *c, int status, const char *content_type, const char *body, size_t length);

/* The head of an event stream in chunked transfer coding. */
void response_stream_head(struct connection *c);

/* One chunk of it, and its end. */
void response_chunk(struct connection *c, const char *data, size_t length);
void response_end(struct connection *c);

#endif

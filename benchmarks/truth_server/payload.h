/* The bytes of a reply: JSON bodies and SSE events. */
#ifndef TRUTH_PAYLOAD_H
#define TRUTH_PAYLOAD_H

#include "connection.h"

#include <stdbool.h>

#define PAYLOAD_ERROR "{\"error\":{\"message\":\"mock fault\",\"type\":\"server_error\",\"code\":null}}"
#define PAYLOAD_PAGE "<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>"

/* SSE events, each with its closing blank line. */
void payload_comment(struct buffer *out, const struct exchange *x);
void payload_role(struct buffer *out, const struct exchange *x);
void payload_empty_content(struct buffer *out, const struct exchange *x);
void payload_empty_choices(struct buffer *out, const struct exchange *x);
void payload_tokens(struct buffer *out, const struct exchange *x, int count, bool final);
void payload_finish(struct buffer *out, const struct exchange *x);
void payload_usage(struct buffer *out, const struct exchange *x);
void payload_data(struct buffer *out, const struct exchange *x, const char *data);

/* Whole bodies of a reply that is not streamed. */
void payload_answer(struct buffer *out, const struct exchange *x);
void payload_vectors(struct buffer *out, const struct exchange *x);

#endif

/* HTTP/1.1 requests out of a connection's in buffer. */
#ifndef TRUTH_REQUEST_H
#define TRUTH_REQUEST_H

#include "connection.h"

/* The shape of replies whose request asks for no other. */
extern struct shape request_shape;

/* Begin the reply to the next complete request, and answer those that need no time at once. */
void request_take(struct connection *c);

#endif

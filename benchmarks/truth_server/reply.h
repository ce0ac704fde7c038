/* The life of a reply: what is written when, and what goes wrong with it. */
#ifndef TRUTH_REPLY_H
#define TRUTH_REPLY_H

#include "connection.h"

/* Start the sequence of jitters and faults. */
void reply_seed(unsigned long seed);

/* Begin the reply to the request in `now`, whose kind, tokens and shape are set. */
void reply_begin(struct connection *c);

/* The exchange's timer fired. */
void reply_advance(struct connection *c);

/* The socket takes bytes again. */
void reply_flush(struct connection *c);

/* The client went away. */
void reply_abandon(struct connection *c);

#endif

/* One client connection, plain or TLS, and the exchange that is going on over it. */
#ifndef TRUTH_CONNECTION_H
#define TRUTH_CONNECTION_H

#include "buffer.h"
#include "shape.h"

#include <stdbool.h>
#include <stdint.h>

enum kind { KIND_CHAT = 0, KIND_COMPLETION = 1, KIND_EMBEDDINGS = 2 };

/* What the next timer of an exchange means. */
enum phase {
    PHASE_WAIT,    /* the time to first token is over */
    PHASE_TOKENS,  /* the next token chunk is due */
    PHASE_HALF,    /* the second half of a token write is due */
    PHASE_COMMENT, /* a keep-alive between two tokens is due */
    PHASE_DRIP,    /* the next byte of an endless reply is due */
    PHASE_TAIL,    /* usage and the end are due */
};

/* One request and its reply; all times are CLOCK_MONOTONIC nanoseconds, 0 means: not yet. */
struct exchange {
    uint64_t sequence;
    char request_id[80];
    enum kind kind;
    bool active;
    bool stream;
    bool include_usage;
    bool base64;
    bool keep_alive;
    bool head_sent;
    bool struck; /* the fault has struck */
    int inputs;
    int tokens;
    int sent_tokens;
    int chunks;
    int status;
    int fault_at;
    enum phase phase;
    struct shape shape;

    int64_t received;
    int64_t first;
    int64_t last;
    int64_t done;
    int64_t due;       /* when the pending timer should fire */
    int64_t token_due; /* when the next token chunk is due: the grid that nothing shifts */
    int64_t late_max;
    int64_t gap_max;
    int64_t write_max; /* longest write: the stamp before it is no truer than this */
    struct buffer stamps; /* int64_t each: just before the write that completed a token chunk */
};

struct connection {
    int fd; /* -1: closed */
    uint32_t generation;
    uint64_t sequence;
    int requests;
    void *tls; /* SSL *, or NULL on a plain connection */
    bool want_write;
    bool close_when_sent;
    struct buffer in;
    struct buffer out;
    struct buffer held; /* the second half of a split write */
    struct exchange now;
};

struct connection_counts {
    uint64_t connections;
    uint64_t writes;
    int open;
    int peak_open;
    int in_flight;
    int peak_in_flight;
};

extern struct connection_counts connection_counts;

/* Create the epoll set that all connections are in; returns its descriptor. */
int connections_init(void);

/* Take every connection that waits at the listening socket. */
void connections_accept(int listener);

/* Read what is there into `in`; false when the peer is gone (the connection still is open). */
bool connection_read(struct connection *c);

/* Write what the socket takes of `out`; a broken connection is closed. */
void connection_flush(struct connection *c);

/* End an exchange's part in the counts. */
void connection_idle(struct connection *c);

/* Close with FIN, or with RST when `reset`. */
void connection_close(struct connection *c, bool reset);

/* Close once everything in `out` has been written. */
void connection_close_when_sent(struct connection *c);

static inline bool connection_is_open(const struct connection *c)
{
    return c->fd >= 0;
}

#endif

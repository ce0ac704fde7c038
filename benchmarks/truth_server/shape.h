/* What a reply looks like: its timing, its form, and what goes wrong with it. */
#ifndef TRUTH_SHAPE_H
#define TRUTH_SHAPE_H

#include "settings.h"

#include <stdbool.h>
#include <stdint.h>

/* The numbers stand in the log. */
enum fault {
    FAULT_NONE = 0,
    FAULT_ERR = 1,          /* an HTTP error status */
    FAULT_CUT = 2,          /* the connection is closed half-way (FIN) */
    FAULT_STALL = 3,        /* one pause half-way */
    FAULT_TRUNC = 4,        /* a clean end half-way: no finish_reason, no usage, no [DONE] */
    FAULT_STREAM_ERROR = 5, /* an OpenAI error object as an event half-way */
    FAULT_ERROR_200 = 6,    /* an OpenAI error object as the whole body, status 200 */
    FAULT_HTML = 7,         /* a web page, status 200 */
    FAULT_BAD_JSON = 8,     /* an event that is not JSON half-way */
    FAULT_DRIP = 9,         /* from half-way on one byte every ITL, for ever */
    FAULT_EMPTY = 10,       /* a proper end without a token */
    FAULT_RESET = 11,       /* the connection is reset half-way (RST) */
};

enum role { ROLE_NONE, ROLE_FIRST, ROLE_EARLY };
enum comment { COMMENT_NONE, COMMENT_COLON, COMMENT_DATA, COMMENT_OPENROUTER };
enum empty_choices { EMPTY_NOWHERE, EMPTY_FIRST, EMPTY_MIDDLE, EMPTY_LAST, EMPTY_EVERYWHERE };
enum finish { FINISH_AUTO, FINISH_NONE, FINISH_STOP, FINISH_LENGTH, FINISH_FILTER, FINISH_ERROR, FINISH_ABORT };

struct shape {
    int64_t ttft;
    int64_t ttft_jitter;
    int64_t itl;
    int64_t itl_jitter;
    int64_t embeddings;
    int64_t stall;
    int64_t tail;
    int64_t split;
    int tokens;
    int tokens_per_chunk;
    int events_per_write;
    int reasoning;
    int reasoning_field;
    int tool_calls;
    int role;
    int comment;
    int crlf;
    int pad;
    int empty_chunk;
    int empty_choices;
    int usage_choices;
    int finish;
    int finish_apart;
    int no_done;
    int one_piece;
    int close;
    int fault;
    int fault_at;
    int err_status;
    double err_rate;
    double cut_rate;
    double stall_rate;
    double trunc_rate;
};

extern const struct shape shape_default;
extern const struct setting shape_settings[];

/* Bring counts into the ranges that the reply code relies on. */
void shape_normalise(struct shape *shape);

/* Change a shape as "name=value,name=value" says; false, with a line in `problem`, when it cannot be. */
bool shape_change(struct shape *shape, const char *changes, char *problem, size_t problem_size);

#endif

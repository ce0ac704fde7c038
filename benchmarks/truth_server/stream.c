#include "stream.h"

#include "clock.h"
#include "payload.h"
#include "response.h"

#include <string.h>

typedef void (*event_maker)(struct buffer *out, const struct exchange *x);

static struct buffer event;

static void add(struct connection *c, event_maker make)
{
    event.length = 0;
    make(&event, &c->now);
    response_chunk(c, event.data, event.length);
}

static void add_data(struct connection *c, const char *data)
{
    event.length = 0;
    payload_data(&event, &c->now, data);
    response_chunk(c, event.data, event.length);
}

static bool empty_choices_at(const struct exchange *x, enum empty_choices place)
{
    return x->shape.empty_choices == (int)place || x->shape.empty_choices == EMPTY_EVERYWHERE;
}

/* In one piece nothing is written before the end. */
static bool send_unless_held(struct connection *c)
{
    return c->now.shape.one_piece || reply_send(c);
}

static void add_head(struct connection *c)
{
    if (c->now.head_sent)
        return;
    c->now.head_sent = true;
    response_stream_head(c);
}

void stream_open_early(struct connection *c)
{
    struct exchange *x = &c->now;
    bool role = x->shape.role == ROLE_EARLY && x->kind == KIND_CHAT;
    bool no_choices = empty_choices_at(x, EMPTY_FIRST);
    if (!role && !no_choices && !x->shape.comment && !x->shape.empty_chunk)
        return;
    add_head(c);
    if (x->shape.comment)
        add(c, payload_comment);
    if (no_choices)
        add(c, payload_empty_choices);
    if (role)
        add(c, payload_role);
    if (x->shape.empty_chunk)
        add(c, payload_empty_content);
    send_unless_held(c);
}

static void stamp_chunk(struct exchange *x, int64_t at)
{
    if (x->first == 0)
        x->first = at;
    else if (at - x->last > x->gap_max)
        x->gap_max = at - x->last;
    x->last = at;
    buffer_append(&x->stamps, &at, sizeof at);
}

static void finish_stream(struct connection *c)
{
    response_end(c);
    struct exchange *x = &c->now;
    x->done = clock_now();
    if (x->shape.one_piece) {
        x->first = x->last = x->gap_max = 0;
        x->stamps.length = 0;
        for (int i = 0; i < x->chunks; i++)
            stamp_chunk(x, x->done);
    }
    if (reply_send(c))
        reply_finish(c);
}

static void end_with_error(struct connection *c)
{
    add_data(c, PAYLOAD_ERROR);
    if (!c->now.shape.no_done)
        add_data(c, "[DONE]");
    finish_stream(c);
}

/* Tell whether a fault took over from here; the ones that strike once let the stream go on. */
static bool fault_strikes(struct connection *c)
{
    struct exchange *x = &c->now;
    if (x->struck || x->sent_tokens < x->fault_at)
        return false;
    x->struck = true;
    switch ((enum fault)x->shape.fault) {
    case FAULT_STALL:
        x->token_due = clock_now() + x->shape.stall;
        reply_schedule(c, x->phase, x->token_due);
        return true;
    case FAULT_CUT:
    case FAULT_RESET:
        reply_break_off(c);
        return true;
    case FAULT_TRUNC:
        x->status = 299;
        finish_stream(c);
        return true;
    case FAULT_STREAM_ERROR:
        end_with_error(c);
        return true;
    case FAULT_BAD_JSON:
        add_data(c, "{\"id\":\"chatcmpl-broken\",\"choices\":[");
        return false;
    case FAULT_DRIP:
        response_chunk(c, "data: ", 6);
        x->due = clock_now();
        reply_drip(c, true);
        return true;
    default:
        return false;
    }
}

static void add_token_events(struct connection *c)
{
    struct exchange *x = &c->now;
    for (int i = 0; i < x->shape.events_per_write && x->sent_tokens < x->tokens; i++) {
        int left = x->tokens - x->sent_tokens;
        int count = left < x->shape.tokens_per_chunk ? left : x->shape.tokens_per_chunk;
        event.length = 0;
        payload_tokens(&event, x, count, count == left && !x->shape.finish_apart);
        response_chunk(c, event.data, event.length);
        bool middle = x->sent_tokens < x->tokens / 2 && x->sent_tokens + count >= x->tokens / 2;
        x->sent_tokens += count;
        x->chunks++;
        if (middle && empty_choices_at(x, EMPTY_MIDDLE))
            add(c, payload_empty_choices);
    }
}

static void end_of_tokens(struct connection *c)
{
    struct exchange *x = &c->now;
    x->phase = PHASE_TAIL;
    if (fault_strikes(c))
        return;
    if (x->shape.finish_apart || x->shape.fault == FAULT_EMPTY)
        add(c, payload_finish);
    if (empty_choices_at(x, EMPTY_LAST))
        add(c, payload_empty_choices);
    if (x->include_usage)
        add(c, payload_usage);
    if (!x->shape.no_done)
        add_data(c, "[DONE]");
    finish_stream(c);
}

static void plan_next(struct connection *c)
{
    struct exchange *x = &c->now;
    if (x->sent_tokens >= x->tokens) {
        if (x->shape.tail > 0)
            reply_schedule(c, PHASE_TAIL, clock_now() + x->shape.tail);
        else
            end_of_tokens(c);
        return;
    }
    int64_t jitter = (int64_t)((reply_random() * 2 - 1) * (double)x->shape.itl_jitter);
    int64_t before = x->token_due;
    x->token_due += x->shape.itl + jitter;
    if (x->shape.comment)
        reply_schedule(c, PHASE_COMMENT, before + (x->token_due - before) / 2);
    else
        reply_schedule(c, PHASE_TOKENS, x->token_due);
}

/* Stamp the chunks that this write completes, and write. */
static void send_tokens(struct connection *c)
{
    struct exchange *x = &c->now;
    int stamped = (int)(x->stamps.length / sizeof(int64_t));
    int64_t at = clock_now();
    for (int i = stamped; i < x->chunks; i++)
        stamp_chunk(x, at);
    if (send_unless_held(c))
        plan_next(c);
}

static void write_tokens(struct connection *c)
{
    struct exchange *x = &c->now;
    if (fault_strikes(c))
        return;
    size_t start = c->out.length;
    add_token_events(c);
    if (x->shape.split == 0) {
        send_tokens(c);
        return;
    }
    size_t half = start + (c->out.length - start) / 2;
    c->held.length = 0;
    buffer_append(&c->held, c->out.data + half, c->out.length - half);
    c->out.length = half;
    if (send_unless_held(c))
        reply_schedule(c, PHASE_HALF, clock_now() + x->shape.split);
}

static void start_tokens(struct connection *c)
{
    struct exchange *x = &c->now;
    if (reply_has_own_body(x)) {
        reply_own_body(c);
        return;
    }
    add_head(c);
    if (x->shape.role == ROLE_FIRST && x->kind == KIND_CHAT)
        add(c, payload_role);
    if (!send_unless_held(c))
        return;
    x->token_due = x->due;
    x->phase = PHASE_TOKENS;
    if (x->tokens == 0)
        plan_next(c);
    else
        write_tokens(c);
}

void stream_advance(struct connection *c)
{
    struct exchange *x = &c->now;
    switch (x->phase) {
    case PHASE_WAIT:
        start_tokens(c);
        break;
    case PHASE_TOKENS:
        write_tokens(c);
        break;
    case PHASE_HALF:
        buffer_append(&c->out, c->held.data, c->held.length);
        send_tokens(c);
        break;
    case PHASE_COMMENT:
        add(c, payload_comment);
        if (send_unless_held(c))
            reply_schedule(c, PHASE_TOKENS, x->token_due);
        break;
    case PHASE_DRIP:
        reply_drip(c, true);
        break;
    case PHASE_TAIL:
        end_of_tokens(c);
        break;
    }
}

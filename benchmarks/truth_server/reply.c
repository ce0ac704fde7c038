#include "reply.h"

#include "clock.h"
#include "journal.h"
#include "payload.h"
#include "response.h"
#include "stream.h"
#include "timers.h"

#include <string.h>

static uint64_t random_state = 88172645463325252ULL;

void reply_seed(unsigned long seed)
{
    random_state ^= seed * 0x9E3779B97F4A7C15ULL;
    if (random_state == 0)
        random_state = 1;
}

double reply_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

void reply_schedule(struct connection *c, enum phase phase, int64_t due)
{
    c->now.phase = phase;
    c->now.due = due;
    timers_add((struct timer){.due = due, .connection = c, .generation = c->generation});
}

static void draw_fault(struct shape *shape)
{
    double draw = reply_random();
    if (shape->fault != FAULT_NONE)
        return;
    const struct {
        double share;
        enum fault fault;
    } drawn[] = {
        {shape->err_rate, FAULT_ERR},
        {shape->cut_rate, FAULT_CUT},
        {shape->stall_rate, FAULT_STALL},
        {shape->trunc_rate, FAULT_TRUNC},
    };
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        if (draw < drawn[i].share) {
            shape->fault = drawn[i].fault;
            return;
        }
        draw -= drawn[i].share;
    }
}

static int64_t first_wait(const struct exchange *x)
{
    int64_t wait = x->shape.ttft + (int64_t)(reply_random() * (double)x->shape.ttft_jitter);
    if (x->kind == KIND_EMBEDDINGS)
        return x->shape.embeddings >= 0 ? x->shape.embeddings : wait;
    if (!x->stream && x->tokens > 1)
        wait += x->shape.itl * (x->tokens - 1);
    return wait;
}

void reply_begin(struct connection *c)
{
    struct exchange *x = &c->now;
    x->active = true;
    if (++connection_counts.in_flight > connection_counts.peak_in_flight)
        connection_counts.peak_in_flight = connection_counts.in_flight;
    x->sequence = journal_number();
    x->status = 200;
    draw_fault(&x->shape);
    if (x->shape.fault == FAULT_EMPTY)
        x->tokens = 0;
    x->fault_at = x->shape.fault_at >= 0 ? x->shape.fault_at : x->tokens / 2;

    reply_schedule(c, PHASE_WAIT, x->received + first_wait(x));
    if (x->stream && !reply_has_own_body(x))
        stream_open_early(c);
}

bool reply_has_own_body(const struct exchange *x)
{
    return x->shape.fault == FAULT_ERR || x->shape.fault == FAULT_ERROR_200 || x->shape.fault == FAULT_HTML;
}

void reply_finish(struct connection *c)
{
    journal_record(c);
    connection_idle(c);
    if (connection_is_open(c) && (!c->now.keep_alive || c->now.shape.close))
        connection_close_when_sent(c);
}

bool reply_send(struct connection *c)
{
    int64_t before = clock_now();
    connection_flush(c);
    int64_t spent = clock_now() - before;
    if (spent > c->now.write_max)
        c->now.write_max = spent;
    if (connection_is_open(c))
        return true;
    c->now.status = -1;
    journal_record(c);
    return false;
}

void reply_flush(struct connection *c)
{
    bool active = c->now.active;
    connection_flush(c);
    if (active && !connection_is_open(c)) {
        c->now.status = -1;
        journal_record(c);
    }
}

void reply_abandon(struct connection *c)
{
    if (c->now.active) {
        c->now.status = -1;
        c->now.done = clock_now();
        journal_record(c);
    }
    connection_close(c, false);
}

void reply_break_off(struct connection *c)
{
    c->now.status = 0;
    c->now.done = clock_now();
    journal_record(c);
    connection_close(c, c->now.shape.fault == FAULT_RESET);
}

static void send_whole(struct connection *c, int status, const char *type, const char *body, size_t length)
{
    struct exchange *x = &c->now;
    x->status = status;
    response_whole(c, status, type, body, length);
    x->first = x->last = x->done = clock_now();
    if (reply_send(c))
        reply_finish(c);
}

void reply_own_body(struct connection *c)
{
    switch (c->now.shape.fault) {
    case FAULT_ERR:
        send_whole(c, c->now.shape.err_status, "application/json", PAYLOAD_ERROR, strlen(PAYLOAD_ERROR));
        return;
    case FAULT_HTML:
        send_whole(c, 200, "text/html; charset=utf-8", PAYLOAD_PAGE, strlen(PAYLOAD_PAGE));
        return;
    default:
        send_whole(c, 200, "application/json", PAYLOAD_ERROR, strlen(PAYLOAD_ERROR));
    }
}

static void send_answer(struct connection *c)
{
    static struct buffer body;
    struct exchange *x = &c->now;
    body.length = 0;
    x->sent_tokens = x->tokens;
    x->chunks = 1;
    if (x->kind == KIND_EMBEDDINGS)
        payload_vectors(&body, x);
    else
        payload_answer(&body, x);
    /* JSON that ends too early under a correct Content-Length */
    size_t length = x->shape.fault == FAULT_BAD_JSON ? body.length / 2 : body.length;
    send_whole(c, 200, "application/json", body.data, length);
}

/* The faults that leave a body that was promised unfinished. */
static void send_part(struct connection *c)
{
    buffer_print(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"id\":");
    if (!reply_send(c))
        return;
    if (c->now.shape.fault == FAULT_DRIP)
        reply_schedule(c, PHASE_DRIP, clock_now() + c->now.shape.itl);
    else
        reply_break_off(c);
}

static void answer_at_once(struct connection *c)
{
    struct exchange *x = &c->now;
    switch (x->shape.fault) {
    case FAULT_STREAM_ERROR: /* there is no stream to put it in */
    case FAULT_ERR:
    case FAULT_ERROR_200:
    case FAULT_HTML:
        reply_own_body(c);
        return;
    case FAULT_STALL:
        if (x->struck)
            break;
        x->struck = true;
        reply_schedule(c, PHASE_WAIT, clock_now() + x->shape.stall);
        return;
    case FAULT_CUT:
    case FAULT_RESET:
    case FAULT_DRIP:
        send_part(c);
        return;
    default:
        break;
    }
    send_answer(c);
}

void reply_advance(struct connection *c)
{
    struct exchange *x = &c->now;
    journal_lateness(x, clock_now() - x->due);
    if (x->stream)
        stream_advance(c);
    else if (x->phase == PHASE_DRIP)
        reply_drip(c, false);
    else
        answer_at_once(c);
}

void reply_drip(struct connection *c, bool chunked)
{
    int64_t pause = c->now.shape.itl > NS_PER_MS ? c->now.shape.itl : NS_PER_MS;
    if (chunked)
        response_chunk(c, "x", 1);
    else
        buffer_append(&c->out, " ", 1);
    if (reply_send(c))
        reply_schedule(c, PHASE_DRIP, c->now.due + pause);
}

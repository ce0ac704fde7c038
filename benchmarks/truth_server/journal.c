#include "journal.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#define LATENESS_CLASSES 64
/* One write() in thousands of requests, so that logging does not delay tokens. */
#define LOG_BUFFER (1 << 20)

static FILE *log_out;
static FILE *stamps_out;
static uint64_t requests;
/* lateness[b]: timers that fired less than 2^(b+1) ns late */
static uint64_t lateness[LATENESS_CLASSES];

static FILE *open_buffered(const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        perror(path);
    else
        setvbuf(out, NULL, _IOFBF, LOG_BUFFER);
    return out;
}

bool journal_open(const char *log_file, const char *stamps_file)
{
    if (log_file != NULL) {
        log_out = open_buffered(log_file);
        if (log_out == NULL)
            return false;
        fputs("# seq xrid kind status recv_ns first_ns lasttok_ns done_ns nchunks ntokens late_max_ns gap_max_ns "
              "fault connseq connreqno inflight write_max_ns\n",
              log_out);
    }
    if (stamps_file != NULL) {
        stamps_out = open_buffered(stamps_file);
        if (stamps_out == NULL)
            return false;
        fputs("# seq token_chunk_ns...\n", stamps_out);
    }
    return true;
}

uint64_t journal_number(void)
{
    return ++requests;
}

void journal_lateness(struct exchange *x, int64_t late)
{
    if (late < 0)
        late = 0;
    if (late > x->late_max)
        x->late_max = late;
    int class = 0;
    while ((late >> class) > 1)
        class++;
    lateness[class]++;
}

static void record_stamps(const struct exchange *x)
{
    const int64_t *stamps = (const int64_t *)x->stamps.data;
    fprintf(stamps_out, "%" PRIu64, x->sequence);
    for (size_t i = 0; i < x->stamps.length / sizeof *stamps; i++)
        fprintf(stamps_out, " %" PRId64, stamps[i]);
    fputc('\n', stamps_out);
}

void journal_record(const struct connection *c)
{
    const struct exchange *x = &c->now;
    if (log_out != NULL) {
        fprintf(log_out,
                "%" PRIu64 " %s %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %d %" PRId64 " %" PRId64
                " %d %" PRIu64 " %d %d %" PRId64 "\n",
                x->sequence, x->request_id[0] ? x->request_id : "-", x->kind, x->status, x->received, x->first,
                x->last, x->done, x->chunks, x->sent_tokens, x->late_max, x->gap_max, x->shape.fault, c->sequence,
                c->requests, connection_counts.in_flight, x->write_max);
    }
    if (stamps_out != NULL)
        record_stamps(x);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void print_lateness(void)
{
    uint64_t total = 0;
    for (int class = 0; class < LATENESS_CLASSES; class++)
        total += lateness[class];
    if (total == 0)
        return;
    uint64_t so_far = 0;
    fputs("share of timers less than N ns late:", stderr);
    for (int class = 0; class < LATENESS_CLASSES; class++) {
        so_far += lateness[class];
        if (lateness[class] > 0)
            fprintf(stderr, " %" PRIu64 ":%.4f", (uint64_t)2 << class, (double)so_far / (double)total);
    }
    fputc('\n', stderr);
}

void journal_close(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (log_out != NULL) {
        fprintf(log_out, "#summary requests=%" PRIu64 " conns=%" PRIu64 " peak_open=%d peak_inflight=%d writes=%" PRIu64
                " cpu_s=%.3f\n",
                requests, connection_counts.connections, connection_counts.peak_open,
                connection_counts.peak_in_flight, connection_counts.writes,
                seconds(usage.ru_utime) + seconds(usage.ru_stime));
        fclose(log_out);
    }
    if (stamps_out != NULL)
        fclose(stamps_out);
    print_lateness();
}

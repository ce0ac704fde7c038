/* truth_server: an OpenAI-compatible server that knows when it wrote what.
 *
 * It measures what CLIENTS add: every token is stamped with CLOCK_MONOTONIC just before its write(), so that a
 * client's figure can be held against the truth of the same request.  One thread; it sleeps until shortly before
 * a deadline and spins for the rest.  127.0.0.1 only.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "connection.h"
#include "journal.h"
#include "reply.h"
#include "request.h"
#include "timers.h"
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_A_ROUND 512
/* So many timers at most before sockets are looked at again. */
#define TIMERS_A_ROUND 256
#define LONGEST_SLEEP (100 * NS_PER_MS)

struct server_options {
    int port;
    int seed;
    int realtime;
    int64_t spin;
    int64_t max_run;
    const char *log;
    const char *stamps;
    const char *tls_cert;
    const char *tls_key;
};

static struct server_options options = {
    .port = 18080,
    .spin = 120 * NS_PER_US,
    .max_run = 600 * NS_PER_S,
};

#define AT(field) offsetof(struct server_options, field)

static const struct setting server_settings[] = {
    {"port", SETTING_COUNT, AT(port), NULL, "on 127.0.0.1; 0 takes a free one (18080); it is printed on standard output"},
    {"log", SETTING_TEXT, AT(log), NULL, "file for one line a request; complete when the server has ended"},
    {"stamps", SETTING_TEXT, AT(stamps), NULL, "file for one line a request: seq and the stamp of each token chunk"},
    {"tls-cert", SETTING_TEXT, AT(tls_cert), NULL, "PEM certificate chain: serve TLS"},
    {"tls-key", SETTING_TEXT, AT(tls_key), NULL, "PEM key of it"},
    {"spin-ms", SETTING_MS, AT(spin), NULL, "busy waiting before each deadline (0.12)"},
    {"max-seconds", SETTING_SECONDS, AT(max_run), NULL, "end by itself after this long (600)"},
    {"seed", SETTING_COUNT, AT(seed), NULL, "for jitters and drawn faults"},
    {"realtime", SETTING_FLAG, AT(realtime), NULL, "ask for the scheduling class SCHED_FIFO"},
    {0},
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static _Noreturn void usage(int status)
{
    FILE *out = status == 0 ? stdout : stderr;
    fprintf(out, "usage: truth_server [--NAME VALUE | --NAME=VALUE]...\n\nThe server:\n");
    settings_print(out, server_settings);
    fprintf(out, "\nReplies (also for one request, in its path: /with/NAME=VALUE,NAME=VALUE/v1/...):\n");
    settings_print(out, shape_settings);
    exit(status);
}

/* Apply the option at `position`; returns the position of the next one. */
static int read_option(int count, char **arguments, int position)
{
    char *name = arguments[position];
    if (strcmp(name, "--help") == 0)
        usage(0);
    if (strncmp(name, "--", 2) != 0)
        usage(2);
    name += 2;
    char *value = strchr(name, '=');
    if (value != NULL)
        *value++ = '\0';

    void *base = &options;
    const struct setting *setting = setting_find(server_settings, name);
    if (setting == NULL) {
        base = &request_shape;
        setting = setting_find(shape_settings, name);
    }
    if (setting != NULL && value == NULL && setting->type == SETTING_FLAG)
        value = "1";
    if (setting != NULL && value == NULL && position + 1 < count)
        value = arguments[++position];
    if (setting == NULL || value == NULL || !setting_apply(setting, base, value)) {
        fprintf(stderr, "truth_server: bad option --%s %s; see --help\n", name, value ? value : "");
        exit(2);
    }
    return position + 1;
}

static void prepare_process(void)
{
    struct sigaction on_stop = {.sa_handler = stop};
    sigaction(SIGTERM, &on_stop, NULL);
    sigaction(SIGINT, &on_stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1UL); /* the default lets the kernel wake us 50 us late */

    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);

    struct sched_param priority = {.sched_priority = 1};
    if (options.realtime && sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        perror("truth_server: goes on without --realtime");
}

static int listen_on_loopback(void)
{
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)options.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t size = sizeof address;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        fprintf(stderr, "truth_server: cannot listen on 127.0.0.1:%d: %s\n", options.port, strerror(errno));
        exit(1);
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void on_socket(struct connection *c, uint32_t events)
{
    if (!connection_is_open(c))
        return;
    if (events & EPOLLOUT)
        reply_flush(c);
    if (!connection_is_open(c) || !(events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
        return;
    bool peer_is_there = connection_read(c);
    request_take(c);
    if (!peer_is_there)
        reply_abandon(c);
}

static void fire_timers(void)
{
    struct timer timer;
    for (int fired = 0; fired < TIMERS_A_ROUND && timers_take(clock_now(), &timer); fired++) {
        struct connection *c = timer.connection;
        if (timer.generation != c->generation || !c->now.active)
            continue;
        reply_advance(c);
        request_take(c); /* one that came before the last was answered */
    }
}

static struct timespec sleep_until_next(int64_t now)
{
    int64_t wait = timers_next(now + LONGEST_SLEEP) - now - options.spin;
    if (wait > LONGEST_SLEEP)
        wait = LONGEST_SLEEP;
    if (wait < 0)
        wait = 0;
    return (struct timespec){.tv_sec = wait / NS_PER_S, .tv_nsec = wait % NS_PER_S};
}

static void serve(int epoll, int listener)
{
    struct epoll_event events[EVENTS_A_ROUND];
    int64_t end = clock_now() + options.max_run;
    for (int64_t now = clock_now(); !stopped && now < end; now = clock_now()) {
        struct timespec timeout = sleep_until_next(now);
        int count = epoll_pwait2(epoll, events, EVENTS_A_ROUND, &timeout, NULL);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL)
                connections_accept(listener);
            else
                on_socket(events[i].data.ptr, events[i].events);
        }
        fire_timers();
    }
}

int main(int count, char **arguments)
{
    request_shape = shape_default;
    for (int position = 1; position < count;)
        position = read_option(count, arguments, position);
    shape_normalise(&request_shape);
    reply_seed((unsigned long)options.seed);

    if ((options.tls_cert == NULL) != (options.tls_key == NULL)) {
        fprintf(stderr, "truth_server: --tls-cert and --tls-key go together\n");
        return 2;
    }
    if (options.tls_cert != NULL && !tls_init(options.tls_cert, options.tls_key))
        return 1;
    if (!journal_open(options.log, options.stamps))
        return 1;

    prepare_process();
    int listener = listen_on_loopback();
    int epoll = connections_init();
    struct epoll_event accepting = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &accepting);
    serve(epoll, listener);
    journal_close();
    return 0;
}

#define _GNU_SOURCE
#include "connection.h"

#include "tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE 65536

struct connection_counts connection_counts;

static int epoll_fd;

/* Closed connections, used again: an event of the same epoll batch may still point at one. */
static struct connection **spare;
static size_t spare_count;
static size_t spare_capacity;

int connections_init(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_fd;
}

static struct connection *take_spare(void)
{
    if (spare_count > 0)
        return spare[--spare_count];
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL) {
        perror("truth_server: out of memory");
        exit(1);
    }
    return c;
}

static void give_spare(struct connection *c)
{
    if (spare_count == spare_capacity) {
        spare_capacity = spare_capacity ? spare_capacity * 2 : 1024;
        spare = realloc(spare, spare_capacity * sizeof *spare);
        if (spare == NULL) {
            perror("truth_server: out of memory");
            exit(1);
        }
    }
    spare[spare_count++] = c;
}

static void watch(struct connection *c, int operation)
{
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLRDHUP | (c->want_write ? EPOLLOUT : 0),
        .data.ptr = c,
    };
    epoll_ctl(epoll_fd, operation, c->fd, &event);
}

static void want_write(struct connection *c, bool wanted)
{
    if (wanted == c->want_write)
        return;
    c->want_write = wanted;
    watch(c, EPOLL_CTL_MOD);
}

static void open_connection(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);

    struct connection *c = take_spare();
    c->fd = fd;
    c->sequence = ++connection_counts.connections;
    c->requests = 0;
    c->tls = tls_open(fd);
    c->want_write = false;
    c->close_when_sent = false;
    if (++connection_counts.open > connection_counts.peak_open)
        connection_counts.peak_open = connection_counts.open;
    watch(c, EPOLL_CTL_ADD);
}

void connections_accept(int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        open_connection(fd);
    }
}

static ssize_t receive_some(struct connection *c)
{
    buffer_reserve(&c->in, READ_SIZE + 1);
    char *target = c->in.data + c->in.length;
    if (c->tls != NULL)
        return tls_read(c->tls, target, READ_SIZE);
    return recv(c->fd, target, READ_SIZE, 0);
}

bool connection_read(struct connection *c)
{
    for (;;) {
        ssize_t count = receive_some(c);
        if (count == 0)
            return false;
        if (count < 0)
            return errno == EAGAIN || errno == EINTR;
        c->in.length += (size_t)count;
    }
}

static ssize_t send_some(struct connection *c, const char *data, size_t count)
{
    connection_counts.writes++;
    if (c->tls != NULL)
        return tls_write(c->tls, data, count);
    return send(c->fd, data, count, MSG_NOSIGNAL);
}

void connection_flush(struct connection *c)
{
    size_t written = 0;
    while (written < c->out.length) {
        ssize_t count = send_some(c, c->out.data + written, c->out.length - written);
        if (count < 0 && errno == EAGAIN)
            break;
        if (count <= 0) {
            connection_close(c, false);
            return;
        }
        written += (size_t)count;
    }
    if (written > 0)
        buffer_drop(&c->out, written);
    if (c->out.length == 0 && c->close_when_sent) {
        connection_close(c, false);
        return;
    }
    want_write(c, c->out.length > 0);
}

void connection_idle(struct connection *c)
{
    if (!c->now.active)
        return;
    c->now.active = false;
    connection_counts.in_flight--;
}

void connection_close(struct connection *c, bool reset)
{
    if (!connection_is_open(c))
        return;
    if (reset) {
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    if (c->tls != NULL)
        tls_close(c->tls, c->close_when_sent);
    c->tls = NULL;
    close(c->fd); /* leaves the epoll set by itself */
    c->fd = -1;
    c->generation++;
    c->in.length = 0;
    c->out.length = 0;
    c->held.length = 0;
    connection_idle(c);
    connection_counts.open--;
    give_spare(c);
}

void connection_close_when_sent(struct connection *c)
{
    c->close_when_sent = true;
    connection_flush(c);
}

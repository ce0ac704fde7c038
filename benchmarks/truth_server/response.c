#include "response.h"

static const char *reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 404:
        return "Not Found";
    case 429:
        return "Too Many Requests";
    case 503:
        return "Service Unavailable";
    default:
        return status < 400 ? "Redirect" : "Error";
    }
}

static bool closes(const struct connection *c)
{
    return !c->now.keep_alive || c->now.shape.close;
}

void response_whole(struct connection *c, int status, const char *content_type, const char *body, size_t length)
{
    buffer_print(&c->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", status, reason(status),
                 content_type, length);
    if (status == 429)
        buffer_print(&c->out, "Retry-After: 1\r\n");
    if (status < 400 && status >= 300)
        buffer_print(&c->out, "Location: /elsewhere\r\n");
    buffer_print(&c->out, "%s\r\n", closes(c) ? "Connection: close\r\n" : "");
    buffer_append(&c->out, body, length);
}

void response_stream_head(struct connection *c)
{
    buffer_print(&c->out,
                 "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
                 "Transfer-Encoding: chunked\r\n%s\r\n",
                 closes(c) ? "Connection: close\r\n" : "");
}

void response_chunk(struct connection *c, const char *data, size_t length)
{
    buffer_print(&c->out, "%zx\r\n", length);
    buffer_append(&c->out, data, length);
    buffer_append(&c->out, "\r\n", 2);
}

void response_end(struct connection *c)
{
    buffer_append(&c->out, "0\r\n\r\n", 5);
}

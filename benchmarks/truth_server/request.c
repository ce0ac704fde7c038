#define _GNU_SOURCE
#include "request.h"

#include "clock.h"
#include "reply.h"
#include "response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_TOKENS 1000000
#define MAX_INPUTS 4096

#define MODELS "{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"mock\"}]}"

struct shape request_shape;

struct head {
    char method[8];
    char path[768];
    size_t length; /* with the blank line */
    size_t content_length;
    bool chunked;
};

/* The value of a header line when it has that name. */
static const char *header_value(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    line += length + 1;
    while (*line == ' ')
        line++;
    return line;
}

static void keep_request_id(struct exchange *x, const char *value, const char *end)
{
    size_t length = (size_t)(end - value);
    if (length >= sizeof x->request_id)
        length = sizeof x->request_id - 1;
    for (size_t i = 0; i < length; i++)
        x->request_id[i] = isspace((unsigned char)value[i]) ? '_' : value[i];
    x->request_id[length] = '\0';
}

static bool read_head(struct connection *c, struct head *head)
{
    const char *text = c->in.data;
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL)
        return false;
    *head = (struct head){.length = (size_t)(end - text) + 4};
    sscanf(text, "%7s %767s", head->method, head->path);
    c->now.request_id[0] = '\0';
    c->now.keep_alive = true;

    for (const char *line = text; line < end; line = strstr(line, "\r\n") + 2) {
        const char *value;
        if ((value = header_value(line, "content-length")) != NULL)
            head->content_length = strtoul(value, NULL, 10);
        else if ((value = header_value(line, "transfer-encoding")) != NULL)
            head->chunked = strncasecmp(value, "chunked", 7) == 0;
        else if ((value = header_value(line, "connection")) != NULL)
            c->now.keep_alive = strncasecmp(value, "close", 5) != 0;
        else if ((value = header_value(line, "x-request-id")) != NULL)
            keep_request_id(&c->now, value, strstr(value, "\r\n"));
    }
    return true;
}

/* Decode a chunked body into `body`; returns the encoded length, or 0 while it is incomplete. */
static size_t read_chunks(const char *start, const char *end, struct buffer *body)
{
    const char *p = start;
    for (;;) {
        const char *line_end = memmem(p, (size_t)(end - p), "\r\n", 2);
        if (line_end == NULL)
            return 0;
        size_t size = strtoul(p, NULL, 16);
        p = line_end + 2;
        if ((size_t)(end - p) < size + 2)
            return 0;
        if (size == 0)
            return (size_t)(p + 2 - start);
        buffer_append(body, p, size);
        p += size + 2;
    }
}

/* Copy the body into `body`, NUL-terminated; returns the request's length, or 0 while it is incomplete. */
static size_t read_body(const struct connection *c, const struct head *head, struct buffer *body)
{
    const char *start = c->in.data + head->length;
    size_t encoded = head->content_length;
    body->length = 0;
    if (head->chunked) {
        encoded = read_chunks(start, c->in.data + c->in.length, body);
        if (encoded == 0)
            return 0;
    } else {
        if (c->in.length < head->length + encoded)
            return 0;
        buffer_append(body, start, encoded);
    }
    buffer_append(body, "", 1);
    return head->length + encoded;
}

/* The text behind a key.  Searching text for JSON is good enough: within a string a quote is escaped. */
static const char *json_value(const char *json, const char *quoted_key)
{
    for (const char *p = json; (p = strstr(p, quoted_key)) != NULL;) {
        p += strlen(quoted_key);
        const char *q = p;
        while (isspace((unsigned char)*q))
            q++;
        if (*q != ':')
            continue;
        q++;
        while (isspace((unsigned char)*q))
            q++;
        return q;
    }
    return NULL;
}

static bool json_starts(const char *json, const char *quoted_key, const char *text)
{
    const char *value = json_value(json, quoted_key);
    return value != NULL && strncmp(value, text, strlen(text)) == 0;
}

static int count_inputs(const char *json)
{
    const char *p = json_value(json, "\"input\"");
    if (p == NULL || *p != '[')
        return 1;
    int strings = 0;
    bool inside = false;
    for (p++; *p != '\0' && (inside || *p != ']'); p++) {
        if (*p == '\\' && p[1] != '\0') {
            p++;
        } else if (*p == '"') {
            strings += !inside;
            inside = !inside;
        }
    }
    if (strings < 1)
        return 1;
    return strings > MAX_INPUTS ? MAX_INPUTS : strings;
}

static int asked_tokens(const char *json, int otherwise)
{
    const char *value = json_value(json, "\"max_completion_tokens\"");
    if (value == NULL)
        value = json_value(json, "\"max_tokens\"");
    int asked = value != NULL ? atoi(value) : 0;
    if (asked <= 0)
        return otherwise;
    return asked > MAX_TOKENS ? MAX_TOKENS : asked;
}

/* Forget the last exchange but for its buffer and for what read_head() has already found. */
static void clear_exchange(struct exchange *x, int64_t received)
{
    struct exchange kept = *x;
    memset(x, 0, sizeof *x);
    memcpy(x->request_id, kept.request_id, sizeof x->request_id);
    x->keep_alive = kept.keep_alive;
    x->stamps = kept.stamps;
    x->stamps.length = 0;
    x->received = received;
    x->shape = request_shape;
}

static void answer(struct connection *c, int status, const char *body)
{
    response_whole(c, status, "application/json", body, strlen(body));
    if (c->now.keep_alive)
        connection_flush(c);
    else
        connection_close_when_sent(c);
}

/* "/with/name=value,name=value/v1/..." changes the shape of this reply only. */
static bool apply_path(struct connection *c, const char *path)
{
    if (strncmp(path, "/with/", 6) != 0)
        return true;
    char changes[512] = "";
    char problem[256] = "";
    const char *start = path + 6;
    size_t length = strcspn(start, "/");
    if (length < sizeof changes)
        memcpy(changes, start, length);
    if (length < sizeof changes && shape_change(&c->now.shape, changes, problem, sizeof problem))
        return true;
    char body[384];
    snprintf(body, sizeof body, "{\"error\":{\"message\":\"/with/: %s\"}}", problem[0] ? problem : "too long");
    answer(c, 400, body);
    return false;
}

static void begin(struct connection *c, enum kind kind, const char *json)
{
    struct exchange *x = &c->now;
    x->kind = kind;
    x->stream = kind != KIND_EMBEDDINGS && json_starts(json, "\"stream\"", "true");
    x->include_usage = json_starts(json, "\"include_usage\"", "true");
    x->base64 = json_starts(json, "\"encoding_format\"", "\"base64\"");
    x->inputs = kind == KIND_EMBEDDINGS ? count_inputs(json) : 1;
    x->tokens = asked_tokens(json, x->shape.tokens);
    reply_begin(c);
}

static void dispatch(struct connection *c, const struct head *head, const char *body)
{
    bool post = strcmp(head->method, "POST") == 0;
    if (!apply_path(c, head->path))
        return;
    if (post && strstr(head->path, "/chat/completions") != NULL)
        begin(c, KIND_CHAT, body);
    else if (post && strstr(head->path, "/completions") != NULL)
        begin(c, KIND_COMPLETION, body);
    else if (post && strstr(head->path, "/embeddings") != NULL)
        begin(c, KIND_EMBEDDINGS, body);
    else if (!post && strstr(head->path, "/models") != NULL)
        answer(c, 200, MODELS);
    else if (!post && (strcmp(head->path, "/") == 0 || strstr(head->path, "/health") != NULL))
        answer(c, 200, "{}");
    else
        answer(c, 404, "{\"error\":{\"message\":\"not found\"}}");
}

void request_take(struct connection *c)
{
    static struct buffer body;
    while (connection_is_open(c) && !c->close_when_sent && !c->now.active && c->in.length > 0) {
        struct head head;
        c->in.data[c->in.length] = '\0'; /* connection_read() left room for it */
        if (!read_head(c, &head))
            return;
        size_t length = read_body(c, &head, &body);
        if (length == 0)
            return;
        clear_exchange(&c->now, clock_now());
        c->requests++;
        buffer_drop(&c->in, length);
        dispatch(c, &head, body.data);
    }
}

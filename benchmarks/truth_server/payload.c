#include "payload.h"

#include <inttypes.h>
#include <string.h>

#define PROMPT_TOKENS 16
#define TOKENS_AN_INPUT 8
/* Text differs from token to token but repeats, so that lengths stay alike. */
#define WORDS 97

static const char *line_end(const struct exchange *x)
{
    return x->shape.crlf ? "\r\n" : "\n";
}

static void open_event(struct buffer *out)
{
    buffer_append(out, "data: ", 6);
}

static void close_event(struct buffer *out, const struct exchange *x)
{
    buffer_print(out, "%s%s", line_end(x), line_end(x));
}

static const char *id_prefix(const struct exchange *x)
{
    return x->kind == KIND_CHAT ? "chatcmpl" : "cmpl";
}

static void chunk_head(struct buffer *out, const struct exchange *x)
{
    const char *object = x->kind == KIND_CHAT ? "chat.completion.chunk" : "text_completion";
    open_event(out);
    buffer_print(out, "{\"id\":\"%s-%" PRIu64 "\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"mock\",",
                 id_prefix(x), x->sequence, object);
}

static const char *finish_word(const struct exchange *x)
{
    switch ((enum finish)x->shape.finish) {
    case FINISH_NONE:
        return "null";
    case FINISH_STOP:
        return "\"stop\"";
    case FINISH_LENGTH:
        return "\"length\"";
    case FINISH_FILTER:
        return "\"content_filter\"";
    case FINISH_ERROR:
        return "\"error\"";
    case FINISH_ABORT:
        return "\"abort\"";
    case FINISH_AUTO:
        break;
    }
    if (x->shape.fault == FAULT_EMPTY)
        return "\"stop\"";
    return x->shape.tool_calls ? "\"tool_calls\"" : "\"length\"";
}

/* `content` is the value of "delta" (chat) or of "text" (completions), as JSON. */
static void chunk(struct buffer *out, const struct exchange *x, const char *content, const char *finish)
{
    chunk_head(out, x);
    buffer_print(out, "\"choices\":[{\"index\":0,\"%s\":", x->kind == KIND_CHAT ? "delta" : "text");
    buffer_append(out, content, strlen(content));
    buffer_print(out, ",\"logprobs\":null,\"finish_reason\":%s}]}", finish);
    close_event(out, x);
}

void payload_comment(struct buffer *out, const struct exchange *x)
{
    static const char *const lines[] = {"", ": keepalive", "data: : keepalive", ": OPENROUTER PROCESSING"};
    buffer_print(out, "%s", lines[x->shape.comment]);
    close_event(out, x);
}

void payload_role(struct buffer *out, const struct exchange *x)
{
    chunk(out, x, "{\"role\":\"assistant\",\"content\":\"\"}", "null");
}

void payload_empty_content(struct buffer *out, const struct exchange *x)
{
    chunk(out, x, x->kind == KIND_CHAT ? "{\"content\":\"\"}" : "\"\"", "null");
}

void payload_empty_choices(struct buffer *out, const struct exchange *x)
{
    chunk_head(out, x);
    buffer_print(out, "\"choices\":[],\"prompt_filter_results\":[]}");
    close_event(out, x);
}

static void words(struct buffer *out, int first, int count)
{
    for (int i = 0; i < count; i++)
        buffer_print(out, " w%d", (first + i) % WORDS);
}

static void padding(struct buffer *out, int count)
{
    if (count <= 0)
        return;
    buffer_reserve(out, (size_t)count);
    memset(out->data + out->length, 'x', (size_t)count);
    out->length += (size_t)count;
}

static void open_delta(struct buffer *out, const struct exchange *x)
{
    static const char *const reasoning_fields[] = {"reasoning_content", "reasoning"};
    if (x->kind == KIND_COMPLETION) {
        buffer_print(out, "\"");
    } else if (x->shape.tool_calls) {
        bool first = x->sent_tokens == 0;
        buffer_print(out, "{\"tool_calls\":[{\"index\":0,%s\"function\":{%s\"arguments\":\"",
                     first ? "\"id\":\"call_1\",\"type\":\"function\"," : "", first ? "\"name\":\"f\"," : "");
    } else {
        bool reasoning = x->sent_tokens < x->shape.reasoning;
        buffer_print(out, "{\"%s\":\"", reasoning ? reasoning_fields[x->shape.reasoning_field] : "content");
    }
}

static const char *close_delta(const struct exchange *x)
{
    if (x->kind == KIND_COMPLETION)
        return "\"";
    return x->shape.tool_calls ? "\"}}]}" : "\"}";
}

void payload_tokens(struct buffer *out, const struct exchange *x, int count, bool final)
{
    static struct buffer delta;
    delta.length = 0;
    open_delta(&delta, x);
    words(&delta, x->sent_tokens, count);
    padding(&delta, x->shape.pad);
    buffer_append(&delta, close_delta(x), strlen(close_delta(x)) + 1);
    chunk(out, x, delta.data, final ? finish_word(x) : "null");
}

void payload_finish(struct buffer *out, const struct exchange *x)
{
    chunk(out, x, x->kind == KIND_CHAT ? "{}" : "\"\"", finish_word(x));
}

static void usage(struct buffer *out, int completion_tokens)
{
    buffer_print(out, "\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}", PROMPT_TOKENS,
                 completion_tokens, PROMPT_TOKENS + completion_tokens);
}

void payload_usage(struct buffer *out, const struct exchange *x)
{
    const char *choice =
        x->kind == KIND_CHAT ? "{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"stop\"}"
                             : "{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}";
    chunk_head(out, x);
    buffer_print(out, "\"choices\":[%s],", x->shape.usage_choices ? choice : "");
    usage(out, x->sent_tokens);
    buffer_print(out, "}");
    close_event(out, x);
}

void payload_data(struct buffer *out, const struct exchange *x, const char *data)
{
    open_event(out);
    buffer_print(out, "%s", data);
    close_event(out, x);
}

void payload_answer(struct buffer *out, const struct exchange *x)
{
    bool chat = x->kind == KIND_CHAT;
    buffer_print(out, "{\"id\":\"%s-%" PRIu64 "\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"mock\",",
                 id_prefix(x), x->sequence, chat ? "chat.completion" : "text_completion");
    buffer_print(out, "\"choices\":[{\"index\":0,%s",
                 chat ? "\"message\":{\"role\":\"assistant\",\"content\":\"" : "\"text\":\"");
    words(out, 0, x->sent_tokens);
    buffer_print(out, "%s,\"finish_reason\":%s}],", chat ? "\"}" : "\"", finish_word(x));
    usage(out, x->sent_tokens);
    buffer_print(out, "}");
}

void payload_vectors(struct buffer *out, const struct exchange *x)
{
    const char *vector = x->base64 ? "\"AAAAPwAAAD8AAAA/AAAAPwAAAD8AAAA/AAAAPwAAAD8=\""
                                   : "[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5]";
    buffer_print(out, "{\"object\":\"list\",\"model\":\"mock\",\"data\":[");
    for (int i = 0; i < x->inputs; i++)
        buffer_print(out, "%s{\"object\":\"embedding\",\"index\":%d,\"embedding\":%s}", i ? "," : "", i, vector);
    int tokens = TOKENS_AN_INPUT * x->inputs;
    buffer_print(out, "],\"usage\":{\"prompt_tokens\":%d,\"total_tokens\":%d}}", tokens, tokens);
}

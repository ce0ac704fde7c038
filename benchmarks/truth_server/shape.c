#include "shape.h"

#include "clock.h"

#include <string.h>

/* Embeddings wait as long as a first token unless told otherwise. */
#define SAME_AS_TTFT (-1)

const struct shape shape_default = {
    .ttft = 50 * NS_PER_MS,
    .itl = 10 * NS_PER_MS,
    .embeddings = SAME_AS_TTFT,
    .stall = 2000 * NS_PER_MS,
    .tokens = 32,
    .tokens_per_chunk = 1,
    .events_per_write = 1,
    .role = ROLE_FIRST,
    .fault_at = -1,
    .err_status = 500,
};

#define AT(field) offsetof(struct shape, field)

const struct setting shape_settings[] = {
    {"ttft-ms", SETTING_MS, AT(ttft), NULL, "request complete to first token (50)"},
    {"ttft-jitter-ms", SETTING_MS, AT(ttft_jitter), NULL, "up to this much is added to the TTFT (0)"},
    {"itl-ms", SETTING_MS, AT(itl), NULL, "token chunk to token chunk (10)"},
    {"itl-jitter-ms", SETTING_MS, AT(itl_jitter), NULL, "each gap is longer or shorter by up to this (0)"},
    {"emb-ms", SETTING_MS, AT(embeddings), NULL, "duration of an embeddings request (the TTFT)"},
    {"tokens", SETTING_COUNT, AT(tokens), NULL, "output tokens where the request sets no maximum (32)"},
    {"tokens-per-chunk", SETTING_COUNT, AT(tokens_per_chunk), NULL, "1 to 64 (1)"},
    {"events-per-write", SETTING_COUNT, AT(events_per_write), NULL, "token events in one write, 1 to 64 (1)"},
    {"one-piece", SETTING_FLAG, AT(one_piece), NULL, "the whole stream in one write at its end"},
    {"split-ms", SETTING_MS, AT(split), NULL, "each token write in two halves this far apart (0: whole)"},
    {"pad", SETTING_COUNT, AT(pad), NULL, "bytes added to the text of each chunk (0)"},
    {"role", SETTING_WORD, AT(role), "none|first|early", "role-only delta: with the first token, or at once"},
    {"reasoning", SETTING_COUNT, AT(reasoning), NULL, "the first N tokens are reasoning (0)"},
    {"reasoning-field", SETTING_WORD, AT(reasoning_field), "reasoning_content|reasoning", "the name they have"},
    {"tool-calls", SETTING_FLAG, AT(tool_calls), NULL, "all tokens are arguments of a tool call"},
    {"comment", SETTING_WORD, AT(comment), "none|colon|data|openrouter",
     "keep-alives at once and between tokens: ': keepalive', 'data: : keepalive', ': OPENROUTER PROCESSING'"},
    {"crlf", SETTING_FLAG, AT(crlf), NULL, "lines end with CR LF"},
    {"empty-chunk", SETTING_FLAG, AT(empty_chunk), NULL, "a chunk with empty content, at once"},
    {"empty-choices", SETTING_WORD, AT(empty_choices), "none|first|middle|last|all",
     "a chunk with an empty list of choices: at once, after half the tokens, before [DONE]"},
    {"usage-choices", SETTING_FLAG, AT(usage_choices), NULL, "the usage chunk has a choice instead of none"},
    {"tail-ms", SETTING_MS, AT(tail), NULL, "last token to usage and [DONE] (0)"},
    {"finish", SETTING_WORD, AT(finish), "auto|none|stop|length|content_filter|error|abort",
     "finish_reason (auto: length, or tool_calls)"},
    {"finish-apart", SETTING_FLAG, AT(finish_apart), NULL, "finish_reason in a chunk of its own, without a token"},
    {"no-done", SETTING_FLAG, AT(no_done), NULL, "no [DONE]"},
    {"close", SETTING_FLAG, AT(close), NULL, "the server closes the connection after each response"},
    {"fault", SETTING_WORD, AT(fault),
     "none|err|cut|stall|trunc|stream-error|error-200|html|bad-json|drip|empty|reset", "what goes wrong, always"},
    {"fault-at", SETTING_COUNT, AT(fault_at), NULL, "tokens before the fault strikes (half of them)"},
    {"err-status", SETTING_COUNT, AT(err_status), NULL, "status of the fault err (500)"},
    {"err-rate", SETTING_RATIO, AT(err_rate), NULL, "share of requests with the fault err"},
    {"cut-rate", SETTING_RATIO, AT(cut_rate), NULL, "share of requests with the fault cut"},
    {"stall-rate", SETTING_RATIO, AT(stall_rate), NULL, "share of requests with the fault stall"},
    {"trunc-rate", SETTING_RATIO, AT(trunc_rate), NULL, "share of requests with the fault trunc"},
    {"stall-ms", SETTING_MS, AT(stall), NULL, "length of a stall (2000)"},
    {0},
};

static int within(int value, int lowest, int highest)
{
    if (value < lowest)
        return lowest;
    return value > highest ? highest : value;
}

void shape_normalise(struct shape *shape)
{
    shape->tokens_per_chunk = within(shape->tokens_per_chunk, 1, 64);
    shape->events_per_write = within(shape->events_per_write, 1, 64);
    shape->err_status = within(shape->err_status, 300, 599);
}

static bool change_one(struct shape *shape, char *change, char *problem, size_t problem_size)
{
    char *value = strchr(change, '=');
    if (value != NULL)
        *value++ = '\0';
    const struct setting *setting = setting_find(shape_settings, change);
    if (setting == NULL) {
        snprintf(problem, problem_size, "no setting '%s'; see --help", change);
        return false;
    }
    if (value == NULL && setting->type == SETTING_FLAG)
        value = "1";
    if (value == NULL || !setting_apply(setting, shape, value)) {
        snprintf(problem, problem_size, "'%s' is no value for '%s'; see --help", value ? value : "", change);
        return false;
    }
    return true;
}

bool shape_change(struct shape *shape, const char *changes, char *problem, size_t problem_size)
{
    char text[512];
    if (strlen(changes) >= sizeof text) {
        snprintf(problem, problem_size, "longer than %zu bytes", sizeof text - 1);
        return false;
    }
    strcpy(text, changes);
    char *rest = text;
    for (char *change; (change = strtok_r(rest, ",", &rest)) != NULL;) {
        if (!change_one(shape, change, problem, problem_size))
            return false;
    }
    shape_normalise(shape);
    return true;
}

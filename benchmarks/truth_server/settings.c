#include "settings.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

const struct setting *setting_find(const struct setting *table, const char *name)
{
    for (const struct setting *s = table; s->name != NULL; s++) {
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* The place of `value` in "a|b|c", or -1. */
static int word_index(const char *words, const char *value)
{
    size_t length = strlen(value);
    int index = 0;
    for (const char *word = words; word != NULL; index++) {
        size_t span = strcspn(word, "|");
        if (span == length && strncmp(word, value, span) == 0)
            return index;
        word = word[span] == '|' ? word + span + 1 : NULL;
    }
    return -1;
}

static bool read_number(const char *value, double lowest, double highest, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && *number >= lowest && *number <= highest;
}

bool setting_apply(const struct setting *setting, void *base, const char *value)
{
    void *field = (char *)base + setting->offset;
    double number = 0;
    int word;

    switch (setting->type) {
    case SETTING_TEXT:
        *(const char **)field = value;
        return true;
    case SETTING_WORD:
        word = word_index(setting->words, value);
        if (word >= 0)
            *(int *)field = word;
        return word >= 0;
    case SETTING_RATIO:
        if (!read_number(value, 0, 1, &number))
            return false;
        *(double *)field = number;
        return true;
    case SETTING_MS:
        if (!read_number(value, 0, 1e9, &number))
            return false;
        *(int64_t *)field = (int64_t)(number * NS_PER_MS);
        return true;
    case SETTING_SECONDS:
        if (!read_number(value, 0, 1e9, &number))
            return false;
        *(int64_t *)field = (int64_t)(number * NS_PER_S);
        return true;
    case SETTING_FLAG:
    case SETTING_COUNT:
        if (!read_number(value, 0, 1e9, &number))
            return false;
        *(int *)field = (int)number;
        return true;
    }
    return false;
}

void settings_print(FILE *out, const struct setting *table)
{
    static const char *const values[] = {"", "N", "MS", "S", "0..1", "", "TEXT"};
    for (const struct setting *s = table; s->name != NULL; s++) {
        const char *value = s->type == SETTING_WORD ? s->words : values[s->type];
        fprintf(out, "  --%s %s\n        %s\n", s->name, value, s->help);
    }
}

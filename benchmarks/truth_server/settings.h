/* Named settings of a struct, set from text: the same names on the command line and in a request's path. */
#ifndef TRUTH_SETTINGS_H
#define TRUTH_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum setting_type {
    SETTING_FLAG,    /* int, 1 when named */
    SETTING_COUNT,   /* int, not negative */
    SETTING_MS,      /* int64_t ns, written in milliseconds */
    SETTING_SECONDS, /* int64_t ns, written in seconds */
    SETTING_RATIO,   /* double, 0 to 1 */
    SETTING_WORD,    /* int, the place of the word in `words` */
    SETTING_TEXT,    /* const char * */
};

struct setting {
    const char *name;
    enum setting_type type;
    size_t offset;
    const char *words; /* for SETTING_WORD, separated by '|' */
    const char *help;
};

/* The setting of that name in a table that ends with a NULL name, or NULL. */
const struct setting *setting_find(const struct setting *table, const char *name);

/* Set one; false when the value is not of the setting's type.  A text is kept, not copied. */
bool setting_apply(const struct setting *setting, void *base, const char *value);

void settings_print(FILE *out, const struct setting *table);

#endif

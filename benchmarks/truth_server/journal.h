/* The log: one line a request, written when its reply is over. */
#ifndef TRUTH_JOURNAL_H
#define TRUTH_JOURNAL_H

#include "connection.h"

#include <stdbool.h>
#include <stdint.h>

/* NULL for a file that is not wanted; false after a message on standard error. */
bool journal_open(const char *log_file, const char *stamps_file);

/* Number the next request, from 1. */
uint64_t journal_number(void);

/* Count how late a timer fired, for the request and for the whole run. */
void journal_lateness(struct exchange *x, int64_t late);

void journal_record(const struct connection *c);

/* Write the summary, close the files, and say on standard error how late the timers fired. */
void journal_close(void);

#endif

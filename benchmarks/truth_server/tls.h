/* TLS of the connections; without OpenSSL's headers at build time there is none. */
#ifndef TRUTH_TLS_H
#define TRUTH_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Serve TLS from now on, with PEM files; false after a message on standard error. */
bool tls_init(const char *certificate_file, const char *key_file);

/* TLS state for an accepted socket; NULL while tls_init() was not called. */
void *tls_open(int fd);

/* As recv() and send() on a non-blocking socket: -1 with EAGAIN when it would block. */
ssize_t tls_read(void *tls, char *target, size_t size);
ssize_t tls_write(void *tls, const char *data, size_t size);

/* Free; `politely` sends close_notify first, as a server does that did not crash. */
void tls_close(void *tls, bool politely);

#endif

#include "tls.h"

#include <stdio.h>

#ifdef WITH_TLS

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

static SSL_CTX *context;

bool tls_init(const char *certificate_file, const char *key_file)
{
    context = SSL_CTX_new(TLS_server_method());
    if (context != NULL && SSL_CTX_use_certificate_chain_file(context, certificate_file) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) == 1) {
        /* The out buffer may grow, and so move, between a write that blocked and its repetition. */
        SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        /* A client that closes without close_notify has closed all the same. */
        SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
        return true;
    }
    ERR_print_errors_fp(stderr);
    fprintf(stderr, "truth_server: cannot serve TLS with %s and %s\n", certificate_file, key_file);
    return false;
}

void *tls_open(int fd)
{
    if (context == NULL)
        return NULL;
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    SSL_set_accept_state(ssl); /* the first read then does the handshake */
    return ssl;
}

static ssize_t as_system_call(SSL *ssl, int result)
{
    if (result > 0)
        return result;
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        /* A handshake flight of one certificate always fits into an empty socket buffer, so waiting for the
         * peer's next bytes is enough in both cases. */
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        ERR_clear_error();
        errno = EPIPE;
        return -1;
    }
}

static int as_int(size_t size)
{
    return size > INT_MAX ? INT_MAX : (int)size;
}

ssize_t tls_read(void *tls, char *target, size_t size)
{
    return as_system_call(tls, SSL_read(tls, target, as_int(size)));
}

ssize_t tls_write(void *tls, const char *data, size_t size)
{
    return as_system_call(tls, SSL_write(tls, data, as_int(size)));
}

void tls_close(void *tls, bool politely)
{
    if (politely)
        SSL_shutdown(tls);
    ERR_clear_error();
    SSL_free(tls);
}

#else

bool tls_init(const char *certificate_file, const char *key_file)
{
    (void)certificate_file;
    (void)key_file;
    fprintf(stderr, "truth_server: built without TLS; install OpenSSL's headers (libssl-dev) and build again\n");
    return false;
}

void *tls_open(int fd)
{
    (void)fd;
    return NULL;
}

ssize_t tls_read(void *tls, char *target, size_t size)
{
    (void)tls;
    (void)target;
    (void)size;
    return -1;
}

ssize_t tls_write(void *tls, const char *data, size_t size)
{
    (void)tls;
    (void)data;
    (void)size;
    return -1;
}

void tls_close(void *tls, bool politely)
{
    (void)tls;
    (void)politely;
}

#endif

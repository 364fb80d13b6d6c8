#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Macros over SSL_CTX_ctrl, which Swift does not import. */
static inline int notes_ssl_only_tls_1_3(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
}
static inline int notes_ssl_only_x25519(SSL_CTX *context) { return (int)SSL_CTX_set1_groups_list(context, "X25519"); }
static inline void notes_ssl_keep_little(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context, 16 * 1024);
}

static inline int notes_ssl_from_tls_1_2(SSL_CTX *context) { return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION); }
static inline int notes_ssl_ask_for_host(SSL *ssl, const char *host) { return (int)SSL_set_tlsext_host_name(ssl, host); }

/* The options are shifts of 64-bit constants, which Swift does not import either. */
static inline void notes_ssl_no_resumption(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

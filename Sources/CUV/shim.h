#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/un.h>
#include <uv.h>

/* fcntl and open are variadic, which Swift does not import. */
static inline int notes_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }
static inline int notes_open_null(void) { return open("/dev/null", O_RDWR); }

/* SIG_IGN is a cast of an integer to a function pointer, which Swift does not import everywhere. */
static inline void notes_ignore_signal(int number) { signal(number, SIG_IGN); }

/* pthread_t is an integer here and a pointer there; libuv has no function that detaches a thread. */
static inline uintptr_t notes_thread_bits(void) { return (uintptr_t)pthread_self(); }
static inline void notes_thread_detach(uv_thread_t thread) { pthread_detach(thread); }

#pragma once
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#endif

/* fcntl and open are variadic, which Swift does not import. */
static inline int notes_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }
static inline int notes_open_null(void) { return open("/dev/null", O_RDWR); }

/* SIG_IGN is a cast of an integer to a function pointer, which Swift does not import everywhere. */
static inline void notes_ignore_signal(int number) { signal(number, SIG_IGN); }

/* Large blocks go back to the system when they are freed. By itself glibc, once it has freed one of 32 MB, keeps up to 64 MB of what
   is freed after it, and gives each thread a heap of its own that keeps as much. */
static inline void notes_return_freed_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  mallopt(M_ARENA_MAX, 2);
#endif
}

/* pthread_t is an integer here and a pointer there; libuv has no function that detaches a thread. */
static inline uintptr_t notes_thread_bits(void) { return (uintptr_t)pthread_self(); }
static inline void notes_thread_detach(uv_thread_t thread) { pthread_detach(thread); }

/* The user at the other end of a unix socket, or -1. ucred and getpeereid are GNU's and BSD's, which Swift does not import
   here without asking for all of theirs. */
#ifdef __linux__
static inline int64_t notes_peer_user(int descriptor) {
  struct { pid_t process; uid_t user; gid_t group; } credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  return length == sizeof credentials ? (int64_t)credentials.user : -1;
}
#else
static inline int64_t notes_peer_user(int descriptor) {
  uid_t user;
  gid_t group;
  return getpeereid(descriptor, &user, &group) == 0 ? (int64_t)user : -1;
}
#endif
static inline int64_t notes_own_user(void) { return (int64_t)getuid(); }

/* Bytes in a socket's send queue, sent and not acknowledged ones included, or -1. ioctl is variadic. */
static inline int64_t notes_unacknowledged(int descriptor) {
  int count = 0;
#ifdef SO_NWRITE
  socklen_t length = sizeof count;
  if (getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length) != 0) return -1;
#else
  if (ioctl(descriptor, TIOCOUTQ, &count) != 0) return -1;
#endif
  return count;
}

/* How many times in a row a TCP socket has sent the same again without an answer, or has asked a receiver that has no room
   whether it is still there; or -1. tcp_info is not imported. */
static inline int notes_retransmissions(int descriptor) {
#ifdef __linux__
  struct tcp_info info;
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  /* One question may be on its way at any time. */
  return info.tcpi_retransmits + (info.tcpi_probes > 1 ? info.tcpi_probes - 1 : 0);
#else
  return -1;
#endif
}

/* A socket that can be read when network interfaces, their addresses or the routes have changed, or -1. libuv has none, and
   the structs of netlink are not imported. */
static inline int notes_open_address_monitor(void) {
#ifdef __linux__
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                                             RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  close(descriptor);
#endif
  return -1;
}

/* Takes in and drops what there is to read, without waiting. The constants of recv are an enum that Swift imports badly. */
static inline void notes_drain(int descriptor) {
  char buffer[8192];
  while (recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT) > 0) {}
}
static inline void notes_close(int descriptor) { close(descriptor); }

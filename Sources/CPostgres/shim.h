#pragma once
#include <libpq-fe.h>

/* Notices are for people at a terminal; by itself libpq prints them to standard error. */
static inline void notes_drop_notice(void *context, const PGresult *notice) { (void)context, (void)notice; }
static inline void notes_drop_notices(PGconn *connection) { PQsetNoticeReceiver(connection, notes_drop_notice, 0); }

/* The fields of an error are named by characters, which Swift does not import from macros. */
static inline const char *notes_sql_state(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_SQLSTATE); }
static inline const char *notes_primary_message(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

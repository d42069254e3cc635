/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - the functions of libmicrohttpd, which is loaded when needed.
 * Layer: serve. */
#pragma once
#include <microhttpd.h>

struct err;

struct mhd_library {
	struct MHD_Daemon *(*start)(unsigned int, uint16_t, MHD_AcceptPolicyCallback,
				    void *, MHD_AccessHandlerCallback, void *, ...);
	void (*stop)(struct MHD_Daemon *);
	enum MHD_Result (*run)(struct MHD_Daemon *);
	enum MHD_Result (*get_timeout)(struct MHD_Daemon *, MHD_UNSIGNED_LONG_LONG *);
	const union MHD_DaemonInfo *(*daemon_info)(struct MHD_Daemon *,
						   enum MHD_DaemonInfoType, ...);
	const union MHD_ConnectionInfo *(*connection_info)(struct MHD_Connection *,
							   enum MHD_ConnectionInfoType,
							   ...);
	const char *(*lookup)(struct MHD_Connection *, enum MHD_ValueKind,
			      const char *);
	int (*values)(struct MHD_Connection *, enum MHD_ValueKind, MHD_KeyValueIterator,
		      void *);
	struct MHD_Response *(*response_from_buffer)(size_t, void *,
						     enum MHD_ResponseMemoryMode);
	struct MHD_Response *(*response_from_callback)(uint64_t, size_t,
						       MHD_ContentReaderCallback,
						       void *,
						       MHD_ContentReaderFreeCallback);
	enum MHD_Result (*add_header)(struct MHD_Response *, const char *,
				      const char *);
	enum MHD_Result (*queue)(struct MHD_Connection *, unsigned int,
				 struct MHD_Response *);
	void (*destroy_response)(struct MHD_Response *);
	void (*suspend)(struct MHD_Connection *);
	void (*resume)(struct MHD_Connection *);
};

/* Loads the library.  Returns 0, or -EOPNOTSUPP with a message in *err. */
int mhd_library_load(struct mhd_library *lib, struct err *err);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

int mhd_library_load(struct mhd_library *lib, struct err *err)
{
	static const char name[] = "libmicrohttpd.so.12";
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "MHD_start_daemon", &lib->start },
		{ "MHD_stop_daemon", &lib->stop },
		{ "MHD_run", &lib->run },
		{ "MHD_get_timeout", &lib->get_timeout },
		{ "MHD_get_daemon_info", &lib->daemon_info },
		{ "MHD_get_connection_info", &lib->connection_info },
		{ "MHD_lookup_connection_value", &lib->lookup },
		{ "MHD_get_connection_values", &lib->values },
		{ "MHD_create_response_from_buffer", &lib->response_from_buffer },
		{ "MHD_create_response_from_callback", &lib->response_from_callback },
		{ "MHD_add_response_header", &lib->add_header },
		{ "MHD_queue_response", &lib->queue },
		{ "MHD_destroy_response", &lib->destroy_response },
		{ "MHD_suspend_connection", &lib->suspend },
		{ "MHD_resume_connection", &lib->resume },
	};
	void *so = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		void *f = so ? dlsym(so, functions[i].name) : NULL;

		if (!f)
			return err_set(
				err, -EOPNOTSUPP,
				"cannot load the library %s: install it (Debian package: libmicrohttpd12)",
				name);
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_state.h - what oprofiled reports about itself.
 * Layer: serve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct daemon_state {
	bool exists;
	bool is_sampling;
	uint64_t samples, lost; /* since the daemon started */
	double cost_percent;    /* of one CPU: the daemon and the kernel's sampling */
};

/* Queries the daemon; without one, all is zero. */
void daemon_state_read(struct daemon_state *ret_state);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_lists.h - lists the choices of the form as JSON: events of this machine, and running
 * processes.
 * Layer: serve. */
#pragma once

struct buf;
struct err;

/* Append the answers to record/events and record/processes.  Return 0, or a negative errno with a
 * message in *err. */
int record_events_put(struct buf *out, struct err *err);
int record_processes_put(struct buf *out, struct err *err);

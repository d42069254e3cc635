/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics.c - the daemon's numbers, for its status and for clients of the metrics server. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/engine/engine.h"
#include "daemon/server/daemon_numbers.h"
#include "daemon/server/metrics_server.h"
#include "format/session/session.h"
#include "record/helper/table_budget.h"
#include "record/priv.h"
#include "record/recorder.h"

static const uint64_t retry_after_ns = 60 * NS_PER_S;

/* Finds the size of the current session in bytes, with the copies as of the last upkeep, and the
 * time of its oldest sample. */
static void look_at_session(const struct oprofiled *d, struct daemon_numbers *n)
{
	char **paths;
	size_t nr;
	struct segment *first;
	struct stat st;

	if (!d->dir_is_open || session_list(d->dir.current, &paths, &nr, NULL))
		return;
	for (size_t i = 0; i < nr; i++)
		if (!stat(paths[i], &st))
			n->disk += (uint64_t)st.st_size;
	n->disk += d->upkeep.copy_bytes;
	if (nr && !segment_open(paths[0], TRUST_OWN, &first, NULL)) {
		n->oldest = segment_info(first)->start_wall_ns / NS_PER_S;
		segment_close(first);
	}
	session_list_free(paths, nr);
}

static uint64_t rate_hz(const struct oprofiled *d)
{
	struct event_requests asked = { 0 };
	struct err err;
	uint64_t hz;

	if (d->recorder)
		return oprofiled_rate_hz(&d->events);
	(void)oprofiled_setup_events(d, &d->setup, &asked, &err);
	hz = oprofiled_rate_hz(&asked);
	events_done(&asked);
	return hz;
}

void oprofiled_numbers(const struct oprofiled *d, struct daemon_numbers *ret_numbers)
{
	struct daemon_numbers n = {
		.is_sampling = d->recorder,
		.has_share = d->governor.is_known,
		.rate_hz = rate_hz(d),
		.samples = d->sums.samples,
		.lost = d->sums.lost,
		.share = d->governor.share,
		.kernel_share = d->governor.sample_ns ? d->governor.kernel_share : -1,
		.cpu_ns = oprofiled_cpu_ns(d),
		.tables_ns = table_budget_spent_ns(d->tables.budget),
		.tables_refused = table_budget_refused(d->tables.budget),
		.memory = oprofiled_resident_bytes()
	};

	n.taken = n.samples + d->sums.dropped;
	if (d->recorder) {
		n.taken += recorder_totals(d->recorder)->samples;
		n.samples += recorder_totals(d->recorder)->samples;
		n.lost += recorder_totals(d->recorder)->lost;
	}
	look_at_session(d, &n);
	*ret_numbers = n;
}

static void put_metrics(void *ctx, struct buf *out)
{
	const struct oprofiled *d = ctx;
	VEC(uint64_t) cpus = { 0 };
	struct daemon_numbers n;

	oprofiled_numbers(d, &n);
	for (unsigned int i = 0; i < d->keys.nr_cpus; i++)
		if (!vec_push(&cpus, oprofiled_cpu_samples(d, i)))
			break;
	n.cpu_samples = cpus.at;
	n.nr_cpus = cpus.nr;
	daemon_numbers_put_metrics(&n, out);
	vec_done(&cpus);
}

/* Returns whether this process has a private network namespace, which others cannot reach.  If
 * unknown, returns false. */
static bool has_private_network(void)
{
	struct stat own, first;

	return !stat("/proc/self/ns/net", &own) && !stat("/proc/1/ns/net", &first) &&
	       own.st_ino != first.st_ino;
}

/* Warns that no other program can read the metrics, because the systemd unit forbids the network.
 * Enabling metrics does not change the unit. */
static void warn_without_network(void)
{
	log_say(LOG_WARNING,
		"this process has no network, or a private one, so other programs cannot read its metrics: allow a network in its unit (see --metrics-listen in oprofiled(1))");
}

static void metrics_refuse(struct oprofiled *d, const char *where, int why,
			   const struct err *err)
{
	d->metrics_retry_ns = clock_now_ns(CLOCK_MONOTONIC) + retry_after_ns;
	if (!strcmp(where, d->metrics_refused))
		return; /* already logged */
	snprintf(d->metrics_refused, sizeof(d->metrics_refused), "%s", where);
	log_say(LOG_WARNING,
		"cannot serve metrics at %s: %s; retrying once a minute (--metrics-listen 0 uses a free port); until then they are %s%s",
		where, err->text, d->metrics ? "served at " : "not served",
		d->metrics ? metrics_server_name(d->metrics) : "");
	if (why == -EAFNOSUPPORT)
		warn_without_network();
}

/* Opens the new server before it closes the old one, so that the old one stays if this fails. */
static void metrics_open(struct oprofiled *d, const char *where,
			 const struct metrics_address *address)
{
	struct metrics_server *server;
	struct err err = { 0 };
	int r;

	/* The setting can name port 0, or spell the same address in another way. */
	if (strcmp(where, d->metrics_where) != 0 &&
	    !metrics_server_is_at(d->metrics, address)) {
		r = metrics_server_open(address, put_metrics, d, &server, &err);
		if (r) {
			metrics_refuse(d, where, r, &err);
			return;
		}
		metrics_server_close(d->metrics);
		d->metrics = server;
		log_say(LOG_NOTE, "metrics are at http://%s/metrics",
			metrics_server_name(server));
		if (has_private_network())
			warn_without_network();
	}
	snprintf(d->metrics_where, sizeof(d->metrics_where), "%s", where);
	d->metrics_refused[0] = 0;
	d->metrics_retry_ns = 0;
}

/* Keeps a server that already listens at the address: a rotation does not disconnect its peers. */
int oprofiled_metrics_listen(struct oprofiled *d, struct err *err)
{
	const char *where = daemonrc_get(&d->setup, "METRICS_LISTEN");
	struct metrics_address address;
	int r;

	if (!where || !*where || !strcmp(where, "none")) {
		oprofiled_metrics_done(d);
		return 0;
	}
	r = metrics_address_parse(where, &address, err);
	if (r)
		return err_prefix(err, "METRICS_LISTEN");
	metrics_open(d, where, &address);
	return 0;
}

void oprofiled_metrics_poll(struct oprofiled *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct err err = { 0 };

	if (d->metrics_retry_ns && now >= d->metrics_retry_ns) {
		d->metrics_retry_ns = 0;
		if (oprofiled_metrics_listen(d, &err))
			log_say(LOG_WARNING, "%s", err.text);
	}
	metrics_server_poll(d->metrics, now);
}

void oprofiled_metrics_done(struct oprofiled *d)
{
	metrics_server_close(d->metrics);
	d->metrics = NULL;
	d->metrics_where[0] = 0;
	d->metrics_refused[0] = 0;
	d->metrics_retry_ns = 0;
}

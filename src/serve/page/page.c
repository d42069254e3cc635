/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "page_files.h"
#include "serve/page/browser.h"
#include "serve/page/page_data.h"
#include "serve/page/process_cpu.h"
#include "serve/page/record_service.h"
#include "serve/serve.h"
#include "view/query.h"

enum {
	TICK_MS = 1000,
	EVENT_BYTES = 256,
	/* At most 1/UPDATE_SHARE of the time is spent on reading a live recording again. */
	UPDATE_SHARE = 100,
	BAD_REQUEST = 400,
	NOT_FOUND = 404,
	NOT_ALLOWED = 405,
	FAILED = 500,
	UNAVAILABLE = 503
};

/* If no stream of events is open, the model is updated until this time after the last request. */
static const uint64_t interest_ns = 5 * (uint64_t)NS_PER_S;

/* Without new samples for this time, the rate is 0. */
static const uint64_t rate_ns = 10 * (uint64_t)NS_PER_S;

/* The answer to `info` before there is a recording. */
static const char no_recording[] =
	"{\"version\":1,\"title\":\"\",\"duration_ns\":0,\"bin_ns\":1,\"rate_hz\":0,\"samples\":0,"
	"\"lost\":0,\"live\":false,\"compare\":false,\"generation\":%" PRIu64
	",\"events\":[],"
	"\"threads\":0,\"cpus\":[],\"has_stacks\":false,\"has_times\":false,\"has_cpus\":false,"
	"\"has_cgroups\":false,\"record\":true,\"sources\":false,\"warnings\":[]}";

/* Numbers that are kept from one tick to the next. */
struct page_tick {
	uint64_t at_ns;
	uint64_t samples,
		samples_ns; /* number of samples, and time, at the last change */
	double samples_per_s;
	uint64_t cpu_ns; /* of this process and the recorder */
	uint64_t nr_requests, request_ns;
	uint64_t update_ns; /* when the model may be updated again */
};

struct page {
	const struct page_options *options;
	struct serve *serve;
	struct page_data data;
	struct record_service service;
	struct page_browser browser;
	struct page_tick tick;
	uint64_t generation; /* first_generation of the next model */
	bool is_recording;   /* `data` is a recording that is being made */
	int signal_fd;
	bool ended;
};

/* ---- data ---- */

static void page_close_data(struct page *p)
{
	if (p->data.model)
		p->generation = view_model_generation(p->data.model) + 1;
	page_data_close(&p->data);
	p->is_recording = false;
}

/* Opens the recordings of the command line. */
static int page_open_given(struct page *p, struct err *err)
{
	const struct page_options *o = p->options;
	const struct page_data_open open = {
		.options = o,
		.session_dir = o->session_dir,
		.sides = { o->sides[0], o->sides[1] },
		.generation = p->generation,
		.can_record = true,
	};

	return page_data_open(&p->data, &open, err);
}

/* Opens the recording that this page makes, or that of the daemon. Ignores errors: the recording
 * might not have samples yet. */
static void page_open_recorded(struct page *p)
{
	char *const words[] = { p->service.shown, NULL };
	struct err err = { 0 };
	struct page_data_open open = {
		.options = p->options,
		.session_dir = p->service.of_daemon ? NULL : p->service.session_dir,
		.sides = { words },
		.generation = p->generation,
		.recording = p->service.of_daemon ||
			     page_recorder_is_active(&p->service.recorder),
		.can_record = true,
	};

	page_close_data(p);
	open.generation = p->generation;
	if (!page_data_open(&p->data, &open, &err))
		p->is_recording = open.recording;
}

/* ---- requests ---- */

static void page_answer_file(const char *name, struct serve_answer *a)
{
	static const char *const names[] = { "index.html", "app.js", "app.css" };
	const struct page_file *file = NULL;

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(names[i], name) || (!*name && !i))
			file = page_file_find(names[i]);
	if (!file) {
		serve_answer_error(
			a, NOT_FOUND, "no such file",
			page_files[0].name
				? NULL
				: "this build has no page (Debian packages: esbuild, node-typescript)");
		return;
	}
	a->type = file->type;
	a->fixed = file->bytes;
	a->fixed_len = file->size;
}

static void page_answer_query(struct page *p, const char *name,
			      const struct serve_request *request,
			      struct serve_answer *a)
{
	VEC(struct view_param) params = { 0 };
	struct err err = { 0 };
	bool added = true;
	int r;

	for (size_t i = 0; added && i < request->params.nr; i++) {
		const struct serve_param *from = &request->params.at[i];

		added = vec_push(&params,
				 (struct view_param){ from->name, from->value });
	}
	r = added ? view_query(p->data.model, name, params.at, params.nr, &a->text,
			       &err)
		  : err_set(&err, -ENOMEM, "out of memory");
	vec_done(&params);
	if (r)
		serve_answer_error(a,
				   r == -ENOENT   ? NOT_FOUND
				   : r == -EINVAL ? BAD_REQUEST
				   : r == -ENOMEM ? UNAVAILABLE
						  : FAILED,
				   err.text, NULL);
	else if (!strcmp(name, "text"))
		a->type = "text/plain; charset=utf-8";
}

static void page_answer_api(struct page *p, const char *name,
			    const struct serve_request *request, struct serve_answer *a)
{
	char info[sizeof(no_recording) + 24];

	if (!strncmp(name, "record/", 7)) {
		record_service_answer(&p->service, name + 7, request, a);
	} else if (request->is_post) {
		serve_answer_error(a, NOT_ALLOWED, "use GET for queries", NULL);
	} else if (!strcmp(name, "live")) {
		a->is_live = true;
		a->type = "text/event-stream";
	} else if (p->data.model) {
		page_answer_query(p, name, request, a);
	} else if (!strcmp(name, "info")) {
		int n = snprintf(info, sizeof(info), no_recording, p->generation);

		buf_put(&a->text, info, (size_t)n);
	} else {
		serve_answer_error(a, NOT_FOUND, "there is no recording yet",
				   "start one on the page 'Record'");
	}
}

static void page_answer(void *ctx, const struct serve_request *request,
			struct serve_answer *a)
{
	static const char api[] = "api/1/";
	struct page *p = ctx;

	if (!strncmp(request->path, api, sizeof(api) - 1))
		page_answer_api(p, request->path + sizeof(api) - 1, request, a);
	else if (request->is_post)
		serve_answer_error(a, NOT_ALLOWED, "use GET for the page", NULL);
	else
		page_answer_file(request->path, a);
}

/* ---- live ---- */

/* Follows the state of the recorder: opens its recording when it starts, and again when it ends.
 * Closes data whose session was removed or replaced. */
static void page_follow_recorder(struct page *p)
{
	struct record_service *s = &p->service;
	bool active, ready;

	page_recorder_poll(&s->recorder);
	active = page_recorder_is_active(&s->recorder);
	/* Until the recorder has started, `current` is the previous session. */
	ready = s->of_daemon || s->recorder.state != RECORDER_STARTING;
	if (s->removed || s->began)
		page_close_data(p);
	s->removed = false;
	if (s->recorder.state == RECORDER_FAILED && !s->of_daemon)
		s->began = false;
	if (s->began && ready) {
		page_open_recorded(p);
		s->began = !p->data.model && (active || s->of_daemon);
	} else if (p->is_recording && !s->of_daemon && !active) {
		page_open_recorded(p);
	}
}

/* Reads new samples of a live recording while a page is open. */
static void page_update(struct page *p, uint64_t now)
{
	struct err err = { 0 };
	uint64_t begin;

	if (!p->data.model || now < p->tick.update_ns ||
	    (!serve_has_streams(p->serve) && now - p->tick.request_ns > interest_ns))
		return;
	begin = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (view_model_update(p->data.model, &err) < 0 && err.text[0])
		p->options->say(err.text);
	p->tick.update_ns =
		now + UPDATE_SHARE * (clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
}

/* Returns the CPU time that the page costs: of this process and of the recorder. */
static uint64_t page_cpu_ns(const struct page *p)
{
	return clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       process_cpu_ns(p->service.recorder.pid);
}

/* Updates the number of samples, and the samples per second since the number last changed: the
 * model is updated at irregular intervals. */
static void page_count_samples(struct page *p, uint64_t now)
{
	struct record_service *s = &p->service;
	struct page_tick *t = &p->tick;

	s->samples = s->lost = 0;
	if (p->data.model)
		view_model_totals(p->data.model, &s->samples, &s->lost);
	if (s->samples > t->samples && now > t->samples_ns)
		t->samples_per_s = (double)(s->samples - t->samples) *
				   (double)NS_PER_S / (double)(now - t->samples_ns);
	else if (s->samples < t->samples || now - t->samples_ns > rate_ns)
		t->samples_per_s = 0;
	else
		return;
	t->samples = s->samples;
	t->samples_ns = now;
}

static void page_send_live(struct page *p, uint64_t now)
{
	struct record_service *s = &p->service;
	uint64_t cpu = page_cpu_ns(p);
	bool recording = page_recorder_is_active(&s->recorder);
	double cost = 0;
	char event[EVENT_BYTES];

	page_count_samples(p, now);
	if (cpu > p->tick.cpu_ns && now > p->tick.at_ns)
		cost = 100 * (double)(cpu - p->tick.cpu_ns) /
		       (double)(now - p->tick.at_ns);
	if (s->of_daemon) {
		daemon_state_read(&s->daemon);
		recording = s->daemon.is_sampling;
		cost += s->daemon.cost_percent;
	}
	snprintf(event, sizeof(event),
		 "{\"generation\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64
		 ",\"samples_per_s\":%.0f,\"cost_percent\":%.2f,\"recording\":%s}",
		 p->data.model ? view_model_generation(p->data.model) : p->generation,
		 s->samples, s->lost, p->tick.samples_per_s, cost,
		 recording ? "true" : "false");
	serve_send_event(p->serve, event);
	p->tick.at_ns = now;
	p->tick.cpu_ns = cpu;
}

/* Updates the time of the last request; removes the file of the browser after the first one.
 * Returns whether the timeout has passed since then. */
static bool page_is_idle(struct page *p, uint64_t now)
{
	uint64_t nr = serve_nr_requests(p->serve);

	if (nr != p->tick.nr_requests || serve_has_streams(p->serve) ||
	    page_recorder_is_active(&p->service.recorder)) {
		p->tick.nr_requests = nr;
		p->tick.request_ns = now;
		if (nr)
			page_browser_done(&p->browser);
	}
	return p->options->timeout_ns &&
	       now - p->tick.request_ns > p->options->timeout_ns;
}

static void page_tick(struct page *p, uint64_t now)
{
	page_follow_recorder(p);
	p->ended |= page_is_idle(p, now);
	page_update(p, now);
	page_send_live(p, now);
}

/* ---- the loop ---- */

static int page_take_signals(struct page *p, struct err *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	(void)signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return err_sys(err, -errno, "cannot block signals");
	p->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return p->signal_fd < 0
		       ? err_sys(err, -errno, "cannot create a descriptor for signals")
		       : 0;
}

/* Handles a signal: Ctrl-C first ends a recording of the command line, then the page. */
static void page_on_signal(struct page *p)
{
	struct page_recorder *r = &p->service.recorder;
	struct signalfd_siginfo info;

	if (read(p->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGINT && r->of_terminal && !r->stopping &&
	    (page_recorder_is_active(r) || page_recorder_just_ended(r))) {
		/* The terminal has sent SIGINT to the recorder also. */
		r->stopping = true;
		p->options->say(
			"the recording ends; press Ctrl-C again to end the page");
		return;
	}
	p->ended = true;
}

static void page_loop(struct page *p)
{
	uint64_t next = clock_now_ns(CLOCK_MONOTONIC);

	p->tick.at_ns = p->tick.request_ns = next;
	while (!p->ended) {
		struct pollfd polls[] = {
			{ .fd = serve_fd(p->serve), .events = POLLIN },
			{ .fd = p->signal_fd, .events = POLLIN },
		};
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
		int wait =
			now < next ? (int)((next - now) / (uint64_t)NS_PER_MS) + 1 : 0;

		(void)poll(polls, COUNT_OF(polls), serve_wait_ms(p->serve, wait));
		if (polls[1].revents)
			page_on_signal(p);
		serve_poll(p->serve);
		now = clock_now_ns(CLOCK_MONOTONIC);
		if (now >= next) {
			page_tick(p, now);
			next = now + (uint64_t)TICK_MS * (uint64_t)NS_PER_MS;
		}
	}
}

/* Prints the address, and opens it in the browser unless the options forbid it. */
static int page_show(struct page *p, struct err *err)
{
	const struct page_options *o = p->options;
	char *url;

	if (asprintf(&url, "%s%s", serve_url(p->serve), o->fragment) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	o->show_address(url);
	if (!o->no_browser && page_browser_open(&p->browser, url))
		o->say("no browser was started: open the address above");
	free(url);
	return 0;
}

static int page_open(struct page *p, struct err *err)
{
	const struct serve_config config = { .port = (uint16_t)p->options->port,
					     .answer = page_answer,
					     .ctx = p };
	int r = record_service_init(&p->service, p->options->session_dir, err);

	if (!r && p->options->sides[0])
		r = page_open_given(p, err);
	if (!r)
		r = serve_open(&config, &p->serve, err);
	if (!r)
		r = page_take_signals(p, err);
	if (!r && p->options->command)
		r = record_service_run(&p->service, p->options->command,
				       p->options->callgraph, err);
	return r ? r : page_show(p, err);
}

int page_run(const struct page_options *options, struct err *err)
{
	struct page p = { .options = options, .signal_fd = -1, .generation = 1 };
	int r = page_open(&p, err);

	if (!r)
		page_loop(&p);
	page_browser_done(&p.browser);
	serve_close(p.serve);
	record_service_done(&p.service);
	page_data_close(&p.data);
	if (p.signal_fd >= 0)
		close(p.signal_fd);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counts.c - writes event counts: the table and the brief rows of OProfile's ocount, and JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "counting/count.h"
#include "present/facts/counts.h"
#include "present/lines/json.h"
#include "present/lines/screen.h"

enum {
	NAME_BYTES = EVENT_NAME_MAX + 48,
	NAME_GAP = 9,
	SCOPE_WIDTH = 10,
	COUNT_WIDTH = 25,
	COMMAS_BYTES = 32,
};

/* Formats NAME[:MASK[:KERNEL[:USER]]] with the fields that the user gave. */
static void count_write_name_of(const struct event_request *e,
				char ret_name[NAME_BYTES])
{
	if (!e->mask_given && !e->scope_given)
		(void)snprintf(ret_name, NAME_BYTES, "%s", e->name);
	else if (!e->scope_given)
		(void)snprintf(ret_name, NAME_BYTES, "%s:0x%" PRIx64, e->name,
			       e->unit_mask);
	else
		(void)snprintf(ret_name, NAME_BYTES, "%s:0x%" PRIx64 ":%d:%d", e->name,
			       e->unit_mask, e->kernel, e->user);
}

/* Formats 90494935 as 90,494,935. */
static void put_commas(uint64_t v, char ret_text[COMMAS_BYTES])
{
	char digits[COMMAS_BYTES];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, v);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			ret_text[at++] = ',';
		ret_text[at++] = digits[i];
	}
	ret_text[at] = '\0';
}

static double percent_counted(const struct counter_value *v)
{
	if (!v->enabled_ns || v->running_ns >= v->enabled_ns)
		return 100;
	return 100.0 * (double)v->running_ns / (double)v->enabled_ns;
}

/* Returns true if the event was enabled but never had a counter. */
static bool never_ran(const struct counter_value *v)
{
	return !v->there || (v->enabled_ns && !v->running_ns);
}

static bool any_scaled(const struct count_run *run, const struct count_values *values)
{
	for (size_t e = 0; e < run->events.list.nr; e++) {
		struct counter_value v = count_total(run, values, e);

		if (percent_counted(&v) < 99)
			return true;
	}
	return false;
}

static void write_duration(FILE *out, uint64_t ns)
{
	double seconds = (double)ns / NS_PER_S;

	fputs("\nEvents were actively counted for ", out);
	if (seconds < 1)
		fprintf(out, "%" PRIu64 " nanoseconds.\n", ns);
	else if (seconds < 60)
		fprintf(out, "%.1f seconds.\n", seconds);
	else
		fprintf(out, "%d minutes and %d seconds.\n", (int)(seconds / 60),
			(int)seconds % 60);
}

static int name_width(const struct count_run *run)
{
	char name[NAME_BYTES];
	size_t widest = 0;

	for (size_t e = 0; e < run->events.list.nr; e++) {
		count_write_name_of(&run->events.list.at[e], name);
		if (strlen(name) > widest)
			widest = strlen(name);
	}
	return (int)widest + NAME_GAP;
}

static bool scopes_are_cpus(const struct count_run *run)
{
	return run->mode == COUNT_SYSTEM || run->mode == COUNT_CPUS;
}

static int scope_number(const struct count_run *run, size_t scope)
{
	return scopes_are_cpus(run) ? run->cpus.at[scope] : run->tids.at[scope];
}

/* Handles a row of a table. `scope` is a CPU or task, or -1: all. */
typedef void (*row_fn)(const struct count_view *view, const struct count_run *run,
		       size_t event, long scope, const struct counter_value *v);

/* Calls `fn` for each row of a table, event by event.  With --separate-cpu or --separate-thread,
 * an event has a row for each CPU or task. */
static void each_row(const struct count_view *view, const struct count_run *run,
		     const struct count_values *values, row_fn fn)
{
	size_t nr = run->events.list.nr;

	for (size_t e = 0; e < nr; e++) {
		struct counter_value total = count_total(run, values, e);

		if (!view->separate)
			fn(view, run, e, -1, &total);
		for (size_t p = 0; view->separate && p < run->nr_scopes; p++)
			if (values->at[p * nr + e].there)
				fn(view, run, e, scope_number(run, p),
				   &values->at[p * nr + e]);
	}
}

static void table_row(const struct count_view *view, const struct count_run *run,
		      size_t event, long scope, const struct counter_value *v)
{
	const struct event_request *e = &run->events.list.at[event];
	char name[NAME_BYTES];
	char count[COMMAS_BYTES];

	count_write_name_of(e, name);
	put_commas(counter_scaled(v), count);
	fprintf(view->out, "\t%-*s", name_width(run), name);
	if (scope >= 0)
		fprintf(view->out, "%-*ld", SCOPE_WIDTH, scope);
	if (never_ran(v))
		fputs("Event not counted\n", view->out);
	else
		fprintf(view->out, "%-*s%.2f", COUNT_WIDTH, count, percent_counted(v));
	if (!never_ran(v) && e->scale > 0)
		fprintf(view->out, "  = %.6g %s", (double)counter_scaled(v) * e->scale,
			e->unit);
	if (!never_ran(v))
		fputc('\n', view->out);
}

static void brief_row(const struct count_view *view, const struct count_run *run,
		      size_t event, long scope, const struct counter_value *v)
{
	char name[NAME_BYTES];

	count_write_name_of(&run->events.list.at[event], name);
	if (scope >= 0)
		fprintf(view->out, "%ld,", scope);
	fprintf(view->out, "%s,%" PRIu64 ",%.2f\n", name, counter_scaled(v),
		never_ran(v) ? 0 : percent_counted(v));
}

static double wall_seconds(void)
{
	return (double)clock_now_ns(CLOCK_REALTIME) / NS_PER_S;
}

static void count_write_time(const struct count_view *view, const struct count_run *run)
{
	if (!run->interval_ns)
		return;
	if (view->brief)
		fprintf(view->out, "timestamp,%.1f\n", wall_seconds());
	else
		fprintf(view->out, "\nCurrent time (seconds since epoch): %.1f\n",
			wall_seconds());
}

static void write_metrics(const struct count_view *view, const struct count_run *run,
			  const struct count_values *values)
{
	struct metric metrics[METRICS_MAX];
	size_t nr = view->metrics ? count_metrics(run, values, metrics) : 0;

	if (nr && !view->brief)
		fputs("Metrics:\n", view->out);
	for (size_t i = 0; i < nr; i++)
		fprintf(view->out,
			view->brief ? "%s,%.4g,%s%s\n" : "\t%-32s %.4g%s%s\n",
			metrics[i].name, metrics[i].value,
			*metrics[i].unit && !view->brief ? " " : "", metrics[i].unit);
	if (view->metrics && !nr && !view->brief)
		fputs("Metrics: none can be computed from these events\n", view->out);
}

static void count_write_table(const struct count_view *view,
			      const struct count_run *run,
			      const struct count_values *values)
{
	count_write_time(view, run);
	if (view->brief) {
		each_row(view, run, values, brief_row);
		write_metrics(view, run, values);
		return;
	}
	write_duration(view->out, values->duration_ns);
	screen_print_line(view->out, "Event counts (%s) for %s:",
			  any_scaled(run, values) ? "scaled" : "actual", run->subject);
	fprintf(view->out, "\t%-*s", name_width(run), "Event");
	if (view->separate)
		fprintf(view->out, "%-*s", SCOPE_WIDTH,
			scopes_are_cpus(run) ? "CPU" : "Task ID");
	fprintf(view->out, "%-*s%% time counted\n", COUNT_WIDTH, "Count");
	each_row(view, run, values, table_row);
	write_metrics(view, run, values);
}

/* ---- JSON ---- */

static void json_double(struct json *j, const char *name, double v)
{
	char digits[40];

	(void)snprintf(digits, sizeof(digits), "%.6g", v);
	json_name(j, name);
	json_number(j, digits);
}

static void json_seconds(struct json *j, const char *name, double v)
{
	char digits[40];

	(void)snprintf(digits, sizeof(digits), "%.3f", v);
	json_name(j, name);
	json_number(j, digits);
}

static void json_row(struct json *j, const struct count_run *run, size_t event,
		     long scope, const struct counter_value *v)
{
	const struct event_request *e = &run->events.list.at[event];

	json_begin_object(j);
	json_name(j, "event");
	json_text(j, e->name);
	json_member_u64(j, "unit_mask", e->unit_mask);
	json_name(j, "kernel");
	json_bool(j, e->kernel);
	json_name(j, "user");
	json_bool(j, e->user);
	if (scope >= 0)
		json_member_u64(j, scopes_are_cpus(run) ? "cpu" : "task",
				(uint64_t)scope);
	json_name(j, "counted");
	json_bool(j, !never_ran(v));
	json_member_u64(j, "count", counter_scaled(v));
	json_member_u64(j, "raw_count", v->count);
	json_member_u64(j, "enabled_ns", v->enabled_ns);
	json_member_u64(j, "running_ns", v->running_ns);
	if (e->scale > 0) {
		json_double(j, "value", (double)counter_scaled(v) * e->scale);
		json_name(j, "unit");
		json_text(j, e->unit);
	}
	json_end_object(j);
}

static void json_metrics(struct json *j, const struct count_run *run,
			 const struct count_values *values)
{
	struct metric metrics[METRICS_MAX];
	size_t nr = count_metrics(run, values, metrics);

	json_name(j, "metrics");
	json_begin_array(j);
	for (size_t i = 0; i < nr; i++) {
		json_begin_object(j);
		json_name(j, "name");
		json_text(j, metrics[i].name);
		json_double(j, "value", metrics[i].value);
		json_name(j, "unit");
		json_text(j, metrics[i].unit);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_values(struct json *j, const struct count_view *view,
			const struct count_run *run, const struct count_values *values)
{
	size_t nr = run->events.list.nr;

	json_member_u64(j, "duration_ns", values->duration_ns);
	json_name(j, "rows");
	json_begin_array(j);
	for (size_t e = 0; e < nr; e++) {
		struct counter_value total = count_total(run, values, e);

		if (!view->separate)
			json_row(j, run, e, -1, &total);
		for (size_t p = 0; view->separate && p < run->nr_scopes; p++)
			json_row(j, run, e, scope_number(run, p),
				 &values->at[p * nr + e]);
	}
	json_end_array(j);
	if (view->metrics)
		json_metrics(j, run, values);
}

static void json_head(struct json *j, const struct count_run *run)
{
	json_begin_object(j);
	json_name(j, "schema");
	json_text(j, "oprofile-counts/1");
	json_name(j, "subject");
	json_text(j, run->subject);
}

int count_write(const struct count_view *view, const struct count_run *run,
		const struct count_values *values)
{
	struct json j = { .out = view->out };

	if (!view->json) {
		count_write_table(view, run, values);
	} else {
		json_head(&j, run);
		if (run->interval_ns)
			json_seconds(&j, "time", wall_seconds());
		json_values(&j, view, run, values);
		json_end_object(&j);
		fputc('\n', view->out);
	}
	return fflush(view->out) ? -errno : 0;
}

/* ---- several runs ---- */

static int by_count(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

struct spread {
	uint64_t median, least, most;
};

static struct spread spread_of(uint64_t *counts, size_t nr)
{
	qsort(counts, nr, sizeof(*counts), by_count);
	return (struct spread){ counts[nr / 2] / 2 + counts[(nr - 1) / 2] / 2 +
					(counts[nr / 2] & counts[(nr - 1) / 2] & 1),
				counts[0], counts[nr - 1] };
}

static struct spread event_spread(const struct count_run *run,
				  const struct count_values *values, size_t nr,
				  size_t event, uint64_t *counts)
{
	for (size_t i = 0; i < nr; i++) {
		struct counter_value v = count_total(run, &values[i], event);

		counts[i] = counter_scaled(&v);
	}
	return spread_of(counts, nr);
}

static void repeat_row(const struct count_view *view, const struct count_run *run,
		       size_t event, const struct spread *s)
{
	char name[NAME_BYTES];
	char median[COMMAS_BYTES], least[COMMAS_BYTES], most[COMMAS_BYTES];

	count_write_name_of(&run->events.list.at[event], name);
	put_commas(s->median, median);
	put_commas(s->least, least);
	put_commas(s->most, most);
	if (view->brief)
		fprintf(view->out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", name,
			s->median, s->least, s->most);
	else
		fprintf(view->out, "\t%-*s%-*s%-*s%s\n", name_width(run), name,
			COUNT_WIDTH, median, COUNT_WIDTH, least, most);
}

/* The lowest, median and highest value of a metric over the runs that have it. */
struct metric_spread {
	const char *name;
	const char *unit;
	double median, least, most;
};

static int count_write_by_value(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static size_t values_of_metric(const struct count_run *run,
			       const struct count_values *values, size_t nr,
			       const char *name, double *ret_values)
{
	struct metric metrics[METRICS_MAX];
	size_t found = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t nr_metrics = count_metrics(run, &values[i], metrics);

		for (size_t m = 0; m < nr_metrics; m++)
			if (!strcmp(metrics[m].name, name))
				ret_values[found++] = metrics[m].value;
	}
	return found;
}

/* Computes the spread of each metric of the first run.  Returns the number of metrics, or -1 if
 * memory is short. */
static int metric_spreads(const struct count_run *run,
			  const struct count_values *values, size_t nr,
			  struct metric_spread ret_spreads[METRICS_MAX])
{
	struct metric metrics[METRICS_MAX];
	size_t nr_metrics = count_metrics(run, &values[0], metrics);
	double *all = calloc(nr + 1, sizeof(*all));

	for (size_t m = 0; all && m < nr_metrics; m++) {
		size_t n = values_of_metric(run, values, nr, metrics[m].name, all);

		qsort(all, n, sizeof(*all), count_write_by_value);
		ret_spreads[m] = (struct metric_spread){
			metrics[m].name,
			metrics[m].unit,
			(all[n / 2] + all[(n - 1) / 2]) / 2,
			all[0],
			all[n - 1],
		};
	}
	free(all);
	return all ? (int)nr_metrics : -1;
}

static int repeat_metrics(const struct count_view *view, struct json *j,
			  const struct count_run *run,
			  const struct count_values *values, size_t nr)
{
	struct metric_spread spreads[METRICS_MAX];
	int nr_spreads = view->metrics ? metric_spreads(run, values, nr, spreads) : 0;

	if (j && view->metrics) {
		json_name(j, "metrics");
		json_begin_array(j);
	} else if (nr_spreads > 0 && !view->brief) {
		fputs("Metrics (median, least, most):\n", view->out);
	}
	for (int i = 0; i < nr_spreads; i++) {
		const struct metric_spread *m = &spreads[i];

		if (!j) {
			fprintf(view->out,
				view->brief ? "%s,%.4g,%.4g,%.4g,%s\n"
					    : "\t%-32s %-11.4g %-11.4g %-11.4g %s\n",
				m->name, m->median, m->least, m->most, m->unit);
			continue;
		}
		json_begin_object(j);
		json_name(j, "name");
		json_text(j, m->name);
		json_double(j, "median", m->median);
		json_double(j, "min", m->least);
		json_double(j, "max", m->most);
		json_name(j, "unit");
		json_text(j, m->unit);
		json_end_object(j);
	}
	if (j && view->metrics)
		json_end_array(j);
	return nr_spreads < 0 ? -ENOMEM : 0;
}

static int json_repeats(const struct count_view *view, const struct count_run *run,
			const struct count_values *values, size_t nr, uint64_t *counts)
{
	struct json j = { .out = view->out };
	int r;

	json_head(&j, run);
	json_member_u64(&j, "runs", nr);
	json_name(&j, "rows");
	json_begin_array(&j);
	for (size_t e = 0; e < run->events.list.nr; e++) {
		struct spread s = event_spread(run, values, nr, e, counts);

		json_begin_object(&j);
		json_name(&j, "event");
		json_text(&j, run->events.list.at[e].name);
		json_member_u64(&j, "median", s.median);
		json_member_u64(&j, "min", s.least);
		json_member_u64(&j, "max", s.most);
		json_end_object(&j);
	}
	json_end_array(&j);
	r = repeat_metrics(view, &j, run, values, nr);
	json_end_object(&j);
	fputc('\n', view->out);
	return r;
}

int count_write_repeats(const struct count_view *view, const struct count_run *run,
			const struct count_values *values, size_t nr)
{
	uint64_t *counts = calloc(nr + 1, sizeof(*counts));
	struct spread time;
	int r = 0;

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		counts[i] = values[i].duration_ns;
	time = spread_of(counts, nr);
	if (view->json) {
		r = json_repeats(view, run, values, nr, counts);
	} else {
		if (!view->brief) {
			write_duration(view->out, time.median);
			fprintf(view->out,
				"(the median of %zu runs, from %.3f to %.3f seconds)\n",
				nr, (double)time.least / NS_PER_S,
				(double)time.most / NS_PER_S);
			screen_print_line(view->out,
					  "Event counts for %s:", run->subject);
			fprintf(view->out, "\t%-*s%-*s%-*s%s\n", name_width(run),
				"Event", COUNT_WIDTH, "Median", COUNT_WIDTH, "Least",
				"Most");
		}
		for (size_t e = 0; e < run->events.list.nr; e++) {
			struct spread s = event_spread(run, values, nr, e, counts);

			repeat_row(view, run, e, &s);
		}
		r = repeat_metrics(view, NULL, run, values, nr);
	}
	free(counts);
	return fflush(view->out) ? -errno : r;
}

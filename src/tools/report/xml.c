/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/xml.h"

#include <errno.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "capture/events/cpu_types.h"
#include "capture/system/machine.h"
#include "tools/cli/command.h"
#include "tools/report/plan.h"

static void report_xml_put(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

int report_xml_words(struct report_xml *x, int argc, char *const *argv)
{
	static const char tag[] = "session:";
	static const char archive[] = "archive:";

	report_xml_put(&x->title, command_name());
	for (int i = 1; i < argc; i++) {
		report_xml_put(&x->title, " ");
		report_xml_put(&x->title, argv[i]);
		if (!strncmp(argv[i], tag, sizeof(tag) - 1)) {
			buf_clear(&x->session);
			report_xml_put(&x->session, argv[i] + sizeof(tag) - 1);
		} else if (!x->session.len &&
			   !strncmp(argv[i], archive, sizeof(archive) - 1)) {
			report_xml_put(&x->session, argv[i]);
		}
	}
	report_xml_put(&x->title, " ");
	buf_put_u8(&x->title, 0);
	buf_put_u8(&x->session, 0);
	return x->title.failed || x->session.failed ? -ENOMEM : 0;
}

static const char *report_xml_join(struct buf *b, const struct word_list *list)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		report_xml_put(b, i ? "," : "");
		report_xml_put(b, list->values.at[i]);
	}
	buf_put_u8(b, 0);
	return b->failed ? NULL : (const char *)b->data;
}

/* Returns the CPU type of a recording, or NULL if it is unknown. A recording contains only the
 * name of the CPU model, from which the type follows if this machine has the same model. */
static const char *cpu_type_of(const struct profile *p)
{
	const char *desc = strtab_get(&p->strings, p->input.cpu_desc);
	const struct cpu_type *host;
	struct machine machine;

	/* For sessions of OProfile, the import stores the title of the CPU type. */
	for (size_t i = 0; (host = cpu_type_at(i)); i++)
		if (!strcmp(desc, host->title))
			return host->name;
	machine_read(&machine);
	if (!*desc || strcmp(desc, machine.cpu_desc) != 0)
		return NULL;
	host = cpu_type_host();
	return host ? host->name : NULL;
}

int report_xml_make(struct report_xml *x, struct report_plan *plan,
		    const struct profile *p)
{
	const struct report_options *o = &plan->options;

	x->about = (struct xml_about){
		.title = (const char *)x->title.data,
		.cpu_type = cpu_type_of(p),
		.session = (const char *)x->session.data,
		.merge = report_xml_join(&x->merge, &o->merge),
		.exclude_symbols = report_xml_join(&x->exclude, &o->exclude_symbols),
		.include_symbols = report_xml_join(&x->include, &o->include_symbols),
		.image_path = o->locations.image_path,
		.exclude_dependent = o->exclude_dependent,
		.code_of = image_code_of,
		.ctx = &x->code,
	};
	if (!x->about.merge || !x->about.exclude_symbols || !x->about.include_symbols)
		return -ENOMEM;
	image_code_init(&x->code, p, NULL, command_warning);
	plan->present.xml = &x->about;
	return 0;
}

void report_xml_done(struct report_xml *x)
{
	if (x->code.profile)
		image_code_done(&x->code);
	buf_done(&x->title);
	buf_done(&x->merge);
	buf_done(&x->exclude);
	buf_done(&x->include);
	buf_done(&x->session);
}

/* Raw perf records through decode and resolve: the first byte chooses the attr, the rest is
 * a run of records. */
#include <stdlib.h>
#include <string.h>

#include "decode/record.h"
#include "resolve/resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint64_t sample_types[] = {
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
		PERF_SAMPLE_STACK_USER,
};

/* Steps by the records' own sizes, as a ring does. */
static void feed(const struct decoder *d, struct resolver *r, const uint8_t *data,
		 size_t len)
{
	while (len >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct record rec;
		struct sample sample;
		size_t size;

		memcpy(&header, data, sizeof(header));
		size = d->swap ? __builtin_bswap16(header.size) : header.size;
		if (size < sizeof(header) || size > len)
			return;
		if (!decoder_record(d, data, len, &rec, NULL)) {
			if (rec.type == PERF_RECORD_SAMPLE)
				resolver_sample(r, d, &rec, &sample);
			else
				resolver_side_band(r, &rec);
			if (header.misc & 0x800)
				resolver_frontier(r, rec.id.time_ns);
		}
		data += size;
		len -= size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct perf_event_attr attr = { .sample_id_all = 1, .sample_regs_user = 0xff };
	struct resolver *resolver;
	struct decoder decoder;
	struct dict dict;
	uint8_t choice;

	if (!len)
		return 0;
	choice = data[0];
	attr.sample_type = sample_types[choice % 3];
	attr.read_format = choice >> 3 & 0x1f;
	decoder_init(&decoder, choice & 4);
	decoder_add_attr(&decoder, &attr);
	decoder_add_attr(&decoder, &attr);
	decoder_add_id(&decoder, 1, 1);
	if (dict_init(&dict))
		abort();
	if (!resolver_new(&dict, NULL, &resolver)) {
		feed(&decoder, resolver, data + 1, len - 1);
		resolver_free(resolver);
	}
	dict_done(&dict);
	decoder_done(&decoder);
	return 0;
}

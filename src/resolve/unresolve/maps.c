/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps.c - assigns addresses to the images of unresolve.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "resolve/unresolve/priv.h"

/* Addresses that no program or kernel has: the largest user space (five levels of page tables)
 * ends at 2^56. perf and this project take the cpu mode from the record, not from the address. */
#define FILE_AREA 0x1000000000000000ULL
#define KERNEL_AREA 0xb000000000000000ULL
#define NOWHERE_AREA 0xa000000000000000ULL

enum {
	CHUNK_SHIFT = 32, /* binaries are mapped in chunks of 4 GiB */
	PAGE_BYTES = 4096
};

#define CHUNK_BYTES (1ULL << CHUNK_SHIFT)

/* Not an image of the dict: unmapped memory for which perf still has a mapping. */
enum {
	NOTHING_HERE = 0xfffffffe
};

static uint64_t unresolve_maps_page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE_BYTES - 1);
}

static struct unresolve_image *unresolve_maps_image_of(struct unresolve *u,
						       uint32_t image)
{
	while (u->images.nr <= image)
		if (!vec_push(&u->images, (struct unresolve_image){ 0 }))
			return NULL;
	return &u->images.at[image];
}

const char *unresolve_image_name(struct unresolve *u, uint32_t image)
{
	const struct image *i = &u->dict->images.at[image];
	const char *name = dict_str(u->dict, i->name);
	bool moved = image < u->images.nr && u->images.at[image].moved;

	switch (i->kind) {
	case IMAGE_MODULE:
		snprintf(u->name, sizeof(u->name), "[%.60s]", name);
		return u->name;
	case IMAGE_KERNEL:
		if (!moved)
			return "[kernel.kallsyms]";
		snprintf(u->name, sizeof(u->name), "[kernel.%u]",
			 u->images.at[image].kernel);
		return u->name;
	case IMAGE_FILE:
	case IMAGE_VDSO:
		return name;
	case IMAGE_LOST:
	case IMAGE_BPF:
	case IMAGE_ANON:
	case IMAGE_UNMAPPED:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_USER:
	case IMAGE_HYPERVISOR:
	case IMAGE_KERNEL_UNMAPPED:
	case IMAGE_JIT:
	case IMAGE_COUNT:
	default:
		return NULL;
	}
}

/* ---- the kernel ---- */

static bool unresolve_maps_is_kernel(const struct image *i)
{
	return (i->kind == IMAGE_KERNEL || i->kind == IMAGE_MODULE) &&
	       i->end > i->start;
}

static bool overlap(const struct image *a, const struct image *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Returns whether two images are of the same kernel, as far as known: not every recording
 * contains the kernel's build-id. */
static bool same_kernel(const struct image *a, const struct image *b)
{
	if (a->kind != b->kind || a->start != b->start || a->name != b->name ||
	    a->ref_address != b->ref_address || a->ref_name != b->ref_name)
		return false;
	return !a->build_id.len || !b->build_id.len ||
	       (a->build_id.len == b->build_id.len &&
		!memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len));
}

/* Returns the first image of the same kernel as `image`, or `image` itself. That kernel's
 * images must all be compatible: an image without a build-id must not join two kernels. */
static uint32_t kernel_of(const struct unresolve *u, uint32_t image,
			  const uint32_t *machines)
{
	const struct image *all = u->dict->images.at;
	uint32_t found = image;

	if (all[image].kind != IMAGE_KERNEL)
		return image;
	for (uint32_t i = 0; i < image; i++) {
		uint32_t first = u->images.at[i].kernel;

		if (all[i].kind != IMAGE_KERNEL || !unresolve_maps_is_kernel(&all[i]) ||
		    machines[i] != machines[image])
			continue;
		if (!same_kernel(&all[i], &all[image])) {
			if (found == first)
				found = image;
		} else if (first == i) {
			found = i;
		}
	}
	return found;
}

/* Returns whether an image of another machine has its address range, or another kernel has been
 * written: perf supports only one kernel. */
static bool is_taken(const struct unresolve *u, uint32_t image,
		     const uint32_t *machines)
{
	const struct image *all = u->dict->images.at;

	for (uint32_t i = 0; i < image; i++) {
		if (!unresolve_maps_is_kernel(&all[i]))
			continue;
		if (all[i].kind == IMAGE_KERNEL && all[image].kind == IMAGE_KERNEL)
			return true;
		if (machines[i] != machines[image] && overlap(&all[i], &all[image]))
			return true;
	}
	return false;
}

static int place_kernel(struct unresolve *u, uint32_t number, const uint32_t *machines)
{
	const struct image *image = &u->dict->images.at[number];
	struct mapping m = { .start = image->start, .end = image->end };
	struct unresolve_image *place = unresolve_maps_image_of(u, number);
	struct space_node *root;
	char path[256];
	int r;

	if (!place)
		return -ENOMEM;
	place->kernel = kernel_of(u, number, machines);
	if (place->kernel != number) {
		place->base = u->images.at[place->kernel].base;
		place->moved = u->images.at[place->kernel].moved;
		place->placed = true;
		return 0;
	}
	place->moved = is_taken(u, number, machines);
	if (place->moved) {
		m.start = KERNEL_AREA + ((uint64_t)number << CHUNK_SHIFT);
		m.end = m.start + (image->end - image->start < CHUNK_BYTES
					   ? image->end - image->start
					   : CHUNK_BYTES);
	} else {
		m.pgoff = image->ref_address; /* 0 for a module */
	}
	place->base = m.start;
	place->placed = true;
	r = space_map(&u->pool, u->fixed, &m, &root);
	if (r)
		return r;
	space_put(&u->pool, u->fixed);
	u->fixed = root;
	snprintf(path, sizeof(path), "%s%.100s", unresolve_image_name(u, number),
		 place->moved ? "" : dict_str(u->dict, image->ref_name));
	return unresolve_write_kernel(u, PERF_RECORD_MISC_KERNEL, &m, path);
}

/* Writes an image named "[guest.kernel.kallsyms]_text" or "[ext4]", names that only the guest
 * uses. */
static int report_guest(struct unresolve *u, const struct image *image)
{
	const struct mapping m = { .start = image->start,
				   .end = image->end,
				   .pgoff = image->ref_address };
	char path[512];

	snprintf(path, sizeof(path), "%.255s%.100s", dict_str(u->dict, image->name),
		 dict_str(u->dict, image->ref_name));
	return unresolve_write_kernel(u, PERF_RECORD_MISC_GUEST_KERNEL, &m, path);
}

/* Writes the kernel itself first, as perf does. */
int unresolve_kernel(struct unresolve *u, const uint32_t *machines)
{
	static const enum image_kind kinds[] = { IMAGE_KERNEL, IMAGE_MODULE,
						 IMAGE_GUEST_KERNEL };
	const struct dict *d = u->dict;

	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		for (uint32_t i = 0; i < d->images.nr; i++) {
			const struct image *image = &d->images.at[i];
			int r = 0;

			if (image->kind != kinds[k])
				continue;
			if (unresolve_maps_is_kernel(image))
				r = place_kernel(u, i, machines);
			else if (image->kind == IMAGE_GUEST_KERNEL && image->end)
				r = report_guest(u, image);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Writes that a BPF program was loaded, unless this was written before. If another program is at
 * its address, first writes that this one was unloaded. */
static int need_bpf(struct unresolve *u, uint32_t number, uint64_t ip, uint64_t time_ns)
{
	const struct image *image = &u->dict->images.at[number];
	const struct unresolve_id id = { .time_ns = time_ns };
	const struct mapping mapping = { .start = image->start,
					 .end = image->end,
					 .image = number };
	const struct mapping *m = space_find(u->kernel, ip);
	struct space_node *root;
	int r = 0;

	if ((m && m->image == number) || image->end <= image->start)
		return 0;
	if (m)
		r = unresolve_write_ksymbol(u, &id, &u->dict->images.at[m->image],
					    true);
	if (!r)
		r = space_map(&u->pool, u->kernel, &mapping, &root);
	if (r)
		return r;
	space_put(&u->pool, u->kernel);
	u->kernel = root;
	return unresolve_write_ksymbol(u, &id, image, false);
}

/* ---- user space ---- */

/* Writes a mapping of a process for perf, and notes it in p->mapped. Returns 0 or a negative
 * errno. */
static int map_here(struct unresolve *u, struct unresolve_process *p,
		    const struct mapping *m, const char *path, uint64_t time_ns)
{
	static const struct image nothing = { .kind = IMAGE_UNMAPPED };
	const struct unresolve_id id = { p->pid, p->pid, time_ns };
	struct space_node *root;
	int r = space_map(&u->pool, p->mapped, m, &root);

	if (r)
		return r;
	space_put(&u->pool, p->mapped);
	p->mapped = root;
	return unresolve_write_mmap(
		u, &id, m,
		m->image == NOTHING_HERE ? &nothing : &u->dict->images.at[m->image],
		path);
}

/* Sets *ret_slot to the slot of a 4-GiB chunk of a binary. Slots are assigned in the order of
 * first use. Returns 0 or a negative errno. */
static int slot_of(struct unresolve *u, uint32_t image, uint64_t chunk,
		   uint32_t *ret_slot)
{
	*ret_slot = map_get(&u->chunks, image, chunk);
	if (*ret_slot != MAP_NONE)
		return 0;
	*ret_slot = u->nr_slots;
	return map_set(&u->chunks, image, chunk, u->nr_slots++);
}

static int need_file(struct unresolve *u, struct unresolve_process *p, uint32_t image,
		     uint64_t offset, uint64_t time_ns, uint64_t *ret_ip)
{
	struct mapping mapping = { .pgoff = offset & ~(CHUNK_BYTES - 1),
				   .image = image };
	const struct mapping *m;
	uint32_t slot;
	int r = slot_of(u, image, offset >> CHUNK_SHIFT, &slot);

	if (r)
		return r;
	mapping.start = FILE_AREA + ((uint64_t)slot << CHUNK_SHIFT);
	mapping.end = mapping.start + CHUNK_BYTES;
	*ret_ip = mapping.start + (offset & (CHUNK_BYTES - 1));
	m = space_find(p->mapped, *ret_ip);
	if (m && m->image == image)
		return 0;
	return map_here(u, p, &mapping,
			dict_str(u->dict, u->dict->images.at[image].name), time_ns);
}

/* Maps memory that has no file. If it has a name like a file ("/memfd:x"), offsets are relative to
 * the file's start, whose address is not in the session. The page with the sample is then mapped at
 * the start of the range. */
static int need_memory(struct unresolve *u, struct unresolve_process *p,
		       uint32_t number, uint64_t offset, uint64_t time_ns,
		       uint64_t *ret_ip)
{
	const struct image *image = &u->dict->images.at[number];
	const char *name = dict_str(u->dict, image->name);
	bool like_file = name[0] == '/' && name[1] != '/';
	bool inside = offset - image->ref_address < image->end - image->start;
	struct mapping mapping = { .start = image->start,
				   .end = image->end,
				   .pgoff = image->start,
				   .image = number };
	const struct mapping *m;

	if (like_file)
		mapping.pgoff =
			inside ? image->ref_address : unresolve_maps_page_of(offset);
	*ret_ip = image->start +
		  (inside ? offset - image->ref_address : offset % PAGE_BYTES);
	m = space_find(p->mapped, *ret_ip);
	if (m && m->image == number &&
	    (!like_file || *ret_ip - m->start + m->pgoff == offset))
		return 0;
	return image->end > image->start ? map_here(u, p, &mapping, name, time_ns) : 0;
}

/* For an address that is not mapped: if perf still has a mapping there, replaces the page of the
 * address by a mapping without a file. */
static int need_nothing(struct unresolve *u, struct unresolve_process *p, uint64_t ip,
			uint64_t time_ns)
{
	struct mapping mapping = { .start = unresolve_maps_page_of(ip),
				   .end = unresolve_maps_page_of(ip) + PAGE_BYTES,
				   .pgoff = unresolve_maps_page_of(ip),
				   .image = NOTHING_HERE };
	const struct mapping *m = space_find(p->mapped, ip);

	if (!m || m->image == NOTHING_HERE || mapping.end < mapping.start)
		return 0;
	return map_here(u, p, &mapping, "[unknown]", time_ns);
}

int unresolve_map_app(struct unresolve *u, struct unresolve_process *p, uint32_t app,
		      uint64_t time_ns)
{
	uint64_t ip;

	return u->dict->images.at[app].kind == IMAGE_FILE
		       ? need_file(u, p, app, 0, time_ns, &ip)
		       : 0;
}

int unresolve_address(struct unresolve *u, struct unresolve_process *p, uint32_t frame,
		      uint64_t time_ns, uint64_t *ret_ip)
{
	const struct frame *f = &u->dict->frames.at[frame];
	const struct image *image = &u->dict->images.at[f->image];

	*ret_ip = image->start + f->offset;
	switch (image->kind) {
	case IMAGE_FILE:
	case IMAGE_VDSO:
		return need_file(u, p, f->image, f->offset, time_ns, ret_ip);
	case IMAGE_ANON:
		return need_memory(u, p, f->image, f->offset, time_ns, ret_ip);
	case IMAGE_UNMAPPED:
	case IMAGE_LOST:
		return need_nothing(u, p, *ret_ip, time_ns);
	case IMAGE_BPF:
		return need_bpf(u, f->image, *ret_ip, time_ns);
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
		if (f->image < u->images.nr && u->images.at[f->image].placed)
			*ret_ip = u->images.at[f->image].base + f->offset;
		return 0;
	case IMAGE_KERNEL_UNMAPPED:
		/* The kernel of another machine can be at this address. */
		if (space_find(u->fixed, *ret_ip))
			*ret_ip = NOWHERE_AREA | (*ret_ip & (CHUNK_BYTES - 1));
		return 0;
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_USER:
	case IMAGE_HYPERVISOR:
	case IMAGE_JIT:
	case IMAGE_COUNT:
	default:
		return 0;
	}
}

struct unresolve_mode unresolve_mode_of(const struct unresolve *u, uint32_t frame)
{
	static const struct unresolve_mode user = { PERF_RECORD_MISC_USER,
						    PERF_CONTEXT_USER };
	static const struct unresolve_mode kernel = { PERF_RECORD_MISC_KERNEL,
						      PERF_CONTEXT_KERNEL };
	static const struct unresolve_mode others[IMAGE_COUNT] = {
		[IMAGE_GUEST_KERNEL] = { PERF_RECORD_MISC_GUEST_KERNEL,
					 PERF_CONTEXT_GUEST_KERNEL },
		[IMAGE_GUEST_USER] = { PERF_RECORD_MISC_GUEST_USER,
				       PERF_CONTEXT_GUEST_USER },
		[IMAGE_HYPERVISOR] = { PERF_RECORD_MISC_HYPERVISOR, PERF_CONTEXT_HV },
	};
	enum image_kind kind = u->dict->images.at[u->dict->frames.at[frame].image].kind;

	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE || kind == IMAGE_BPF ||
	    kind == IMAGE_KERNEL_UNMAPPED)
		return kernel;
	return others[kind].cpumode ? others[kind] : user;
}

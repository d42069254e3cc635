/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONS
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#endif

enum {
	NR_SLOTS = 128,
	NR_POISONED =
		64 /* released mappings to keep in a build with AddressSanitizer */
};

/* A mapping, as the signal handler needs it. */
struct mapped_slot {
	atomic_bool taken;
	atomic_bool lost;
	_Atomic(uint8_t *) start; /* NULL: unused */
	_Atomic(uint8_t *) end;
};

static struct mapped_slot slots[NR_SLOTS];
static struct sigaction before;
static long page_bytes;

static struct mapped_slot *slot_at(const uint8_t *address)
{
	for (size_t i = 0; i < NR_SLOTS; i++) {
		struct mapped_slot *s = &slots[i];
		const uint8_t *start = atomic_load(&s->start);

		if (start && address >= start && address < atomic_load(&s->end))
			return s;
	}
	return NULL;
}

/* Handles SIGBUS: maps zeros where the file has no data. POSIX does not list mmap() as safe in
 * signal handlers, but on Linux it is a plain system call. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	uint8_t *address = info->si_addr;
	uint8_t *page = address - (uintptr_t)address % (uintptr_t)page_bytes;
	struct mapped_slot *s = slot_at(address);
	int errno_before = errno;

	(void)context;
	if (s) {
		atomic_store(&s->lost, true);
		if (mmap(page, (size_t)(atomic_load(&s->end) - page), PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED) {
			errno = errno_before;
			return;
		}
	}
	/* The access is repeated when this handler returns, and its signal then reaches the
	 * previous handler. */
	(void)sigaction(signal, &before, NULL);
	errno = errno_before;
}

/* Installs the handler unless it is installed, as other code can have replaced it. */
static void mapped_take_signal(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction action = { .sa_sigaction = on_bus_error,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	struct sigaction now;

	pthread_mutex_lock(&lock);
	page_bytes = sysconf(_SC_PAGESIZE);
	if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction != on_bus_error) {
		before = now;
		sigemptyset(&action.sa_mask);
		(void)sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
}

static struct mapped_slot *slot_take(void)
{
	for (size_t i = 0; i < NR_SLOTS; i++) {
		bool taken = false;

		if (atomic_compare_exchange_strong(&slots[i].taken, &taken, true))
			return &slots[i];
	}
	return NULL;
}

int mapped_window(int fd, uint64_t offset, size_t len, struct mapped *ret_mapped)
{
	struct mapped_slot *s;
	void *at;

	mapped_take_signal();
	s = slot_take();
	if (!s)
		return -EAGAIN;
	at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)offset);
	if (at == MAP_FAILED) {
		int r = -errno;

		atomic_store(&s->taken, false);
		return r;
	}
	atomic_store(&s->lost, false);
	atomic_store(&s->end, (uint8_t *)at + len);
	atomic_store(&s->start, at);
	*ret_mapped = (struct mapped){ .bytes = at,
				       .len = len,
				       .slot = (unsigned int)(s - slots) };
	return 0;
}

void mapped_stream(const struct mapped *m)
{
	uint8_t *at = atomic_load(&slots[m->slot].start);

	if (at)
		(void)madvise(at, m->len, MADV_HUGEPAGE);
}

#ifdef POISONS
/* The mappings that were released last, in a build with AddressSanitizer. Their addresses stay
 * reserved, so that the sanitizer reports stale pointers. The oldest is dropped to make room. */
static struct {
	pthread_mutex_t lock;
	struct {
		uint8_t *at;
		size_t len;
	} kept[NR_POISONED];
	size_t next;
} poisoned = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void unmap(uint8_t *at, size_t len)
{
	uint8_t *oldest;
	size_t oldest_len;

	/* Unmap the file, but keep the addresses reserved. */
	(void)mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASAN_POISON_MEMORY_REGION(at, len);
	pthread_mutex_lock(&poisoned.lock);
	oldest = poisoned.kept[poisoned.next].at;
	oldest_len = poisoned.kept[poisoned.next].len;
	poisoned.kept[poisoned.next].at = at;
	poisoned.kept[poisoned.next].len = len;
	poisoned.next = (poisoned.next + 1) % NR_POISONED;
	pthread_mutex_unlock(&poisoned.lock);
	if (!oldest)
		return;
	ASAN_UNPOISON_MEMORY_REGION(oldest, oldest_len);
	(void)munmap(oldest, oldest_len);
}
#else
static void unmap(uint8_t *at, size_t len)
{
	(void)munmap(at, len);
}
#endif

void mapped_release(struct mapped *m)
{
	struct mapped_slot *s = &slots[m->slot];
	uint8_t *at;

	if (!m->bytes)
		return;
	at = atomic_exchange(&s->start, NULL);
	unmap(at, m->len);
	atomic_store(&s->taken, false);
	*m = (struct mapped){ 0 };
}

bool mapped_is_lost(const struct mapped *m)
{
	return m->bytes &&
	       atomic_load_explicit(&slots[m->slot].lost, memory_order_relaxed);
}

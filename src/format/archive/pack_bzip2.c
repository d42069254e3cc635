/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_bzip2.c - bzip2 compression with several threads.
 *
 * bzip2 is slow, but its blocks are independent. So any idle thread compresses a block of input to
 * a separate stream, and the streams are written in order. bzip2 and tar read consecutive streams
 * as one. */
#include <bzlib.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/archive/pack_priv.h"

enum {
	BLOCK_100K = 9, /* the default of `tar cj` */
	/* A block holds almost 900000 bytes after run-length encoding, in which a run of four
	 * grows by one byte. More input would make a second, tiny block. */
	PIECE_BYTES = 890000,
	/* the bound in the manual */
	PACKED_BYTES = PIECE_BYTES + PIECE_BYTES / 100 + 600,
	THREADS_MAX = 16,
	PIECES = 2 * THREADS_MAX
};

enum piece_state {
	PIECE_FREE,
	PIECE_FULL, /* ready to be compressed */
	PIECE_PACKING,
	PIECE_PACKED
};

struct pack_bzip2_piece {
	enum piece_state state;
	size_t nr_in;
	unsigned int nr_out;
	int error;
	char *in;
	char *out;
};

struct bzip2_packer {
	int fd;
	unsigned int
		filling; /* the block that is being filled; blocks are used in turn */
	unsigned int writing; /* the oldest block that is not written yet */
	unsigned int nr_pieces;
	unsigned int nr_threads;
	pthread_t threads[THREADS_MAX];
	pthread_mutex_t lock; /* protects state, packing and ending */
	pthread_cond_t changed;
	unsigned int packing; /* the next block to compress */
	bool ending;
	struct pack_bzip2_piece pieces[PIECES];
};

static void pack_piece(struct pack_bzip2_piece *p)
{
	int r;

	p->nr_out = PACKED_BYTES;
	r = BZ2_bzBuffToBuffCompress(p->out, &p->nr_out, p->in, (unsigned int)p->nr_in,
				     BLOCK_100K, 0, 0);
	p->error = r == BZ_OK ? 0 : -ENOMEM; /* no other error can occur here */
}

static void *pack_bzip2_work(void *ctx)
{
	struct bzip2_packer *b = ctx;

	pthread_mutex_lock(&b->lock);
	while (!b->ending) {
		struct pack_bzip2_piece *p = &b->pieces[b->packing];

		if (p->state != PIECE_FULL) {
			pthread_cond_wait(&b->changed, &b->lock);
			continue;
		}
		b->packing = (b->packing + 1) % b->nr_pieces;
		p->state = PIECE_PACKING;
		pthread_mutex_unlock(&b->lock);
		pack_piece(p);
		pthread_mutex_lock(&b->lock);
		p->state = PIECE_PACKED;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static void bzip2_free(void *state)
{
	struct bzip2_packer *b = state;

	pthread_mutex_lock(&b->lock);
	b->ending = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	for (unsigned int i = 0; i < b->nr_threads; i++)
		pthread_join(b->threads[i], NULL);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	for (unsigned int i = 0; i < PIECES; i++) {
		free(b->pieces[i].in);
		free(b->pieces[i].out);
	}
	free(b);
}

static int bzip2_new(int fd, void **ret_state)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int wanted = cpus < 1             ? 1
			      : cpus > THREADS_MAX ? THREADS_MAX
						   : (unsigned int)cpus;
	struct bzip2_packer *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->fd = fd;
	b->nr_pieces = 2 * wanted;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	for (unsigned int i = 0; i < b->nr_pieces; i++) {
		b->pieces[i].in = malloc(PIECE_BYTES);
		b->pieces[i].out = malloc(PACKED_BYTES);
		if (!b->pieces[i].in || !b->pieces[i].out) {
			bzip2_free(b);
			return -ENOMEM;
		}
	}
	while (b->nr_threads < wanted &&
	       !pthread_create(&b->threads[b->nr_threads], NULL, pack_bzip2_work, b))
		b->nr_threads++;
	*ret_state = b;
	return 0;
}

static void set_state(struct bzip2_packer *b, struct pack_bzip2_piece *p,
		      enum piece_state state)
{
	pthread_mutex_lock(&b->lock);
	p->state = state;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

/* Waits until the oldest block is compressed, and writes it. */
static int write_oldest(struct bzip2_packer *b)
{
	struct pack_bzip2_piece *p = &b->pieces[b->writing];
	int r;

	pthread_mutex_lock(&b->lock);
	while (p->state != PIECE_PACKED)
		pthread_cond_wait(&b->changed, &b->lock);
	pthread_mutex_unlock(&b->lock);
	r = p->error ? p->error : io_write_all(b->fd, p->out, p->nr_out);
	p->nr_in = 0;
	b->writing = (b->writing + 1) % b->nr_pieces;
	set_state(b, p, PIECE_FREE);
	return r;
}

/* Gives the full block to the threads, or compresses it here if there are none. If all blocks are
 * in use, writes the oldest one. */
static int hand_over(struct bzip2_packer *b)
{
	struct pack_bzip2_piece *p = &b->pieces[b->filling];

	if (!b->nr_threads) { /* no thread could be started */
		pack_piece(p);
		set_state(b, p, PIECE_PACKED);
	} else {
		set_state(b, p, PIECE_FULL);
	}
	b->filling = (b->filling + 1) % b->nr_pieces;
	return b->filling == b->writing ? write_oldest(b) : 0;
}

static int bzip2_put(void *state, const void *bytes, size_t len)
{
	struct bzip2_packer *b = state;
	const char *at = bytes;
	int r = 0;

	while (!r && len) {
		struct pack_bzip2_piece *p = &b->pieces[b->filling];
		size_t n = PIECE_BYTES - p->nr_in;

		if (n > len)
			n = len;
		memcpy(p->in + p->nr_in, at, n);
		p->nr_in += n;
		at += n;
		len -= n;
		if (p->nr_in == PIECE_BYTES)
			r = hand_over(b);
	}
	return r;
}

static int bzip2_finish(void *state)
{
	struct bzip2_packer *b = state;
	int r = b->pieces[b->filling].nr_in ? hand_over(b) : 0;

	while (!r && b->writing != b->filling)
		r = write_oldest(b);
	return r;
}

/* ---- unpacking ---- */

struct bzip2_unpacker {
	bz_stream stream;
	bool begun; /* the input so far ends in the middle of a stream */
};

static int unbzip2_new(void **ret_state)
{
	*ret_state = calloc(1, sizeof(struct bzip2_unpacker));
	return *ret_state ? 0 : -ENOMEM;
}

static void unbzip2_free(void *state)
{
	struct bzip2_unpacker *u = state;

	if (u && u->begun)
		BZ2_bzDecompressEnd(&u->stream);
	free(u);
}

static unsigned int length_of(const struct pack_span *s)
{
	size_t left = s->size - s->pos;

	return left > 1U << 30 ? 1U << 30 : (unsigned int)left;
}

static int unbzip2_step(void *state, struct pack_span *in, struct pack_span *out,
			struct err *err)
{
	struct bzip2_unpacker *u = state;
	unsigned int in_len = length_of(in), out_len = length_of(out);
	int r;

	if (!u->begun) {
		u->stream = (bz_stream){ 0 };
		if (BZ2_bzDecompressInit(&u->stream, 0, 0) != BZ_OK)
			return err_set(err, -ENOMEM, "out of memory");
		u->begun = true;
	}
	u->stream.next_in = (char *)in->at + in->pos;
	u->stream.avail_in = in_len;
	u->stream.next_out = (char *)out->at + out->pos;
	u->stream.avail_out = out_len;
	r = BZ2_bzDecompress(&u->stream);
	in->pos += in_len - u->stream.avail_in;
	out->pos += out_len - u->stream.avail_out;
	if (r == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(&u->stream);
		u->begun = false;
		return 0;
	}
	if (r == BZ_MEM_ERROR)
		return err_set(err, -ENOMEM, "out of memory");
	return r == BZ_OK ? 0 : err_set(err, -EBADMSG, "damaged: invalid bzip2 data");
}

static bool unbzip2_is_whole(void *state)
{
	const struct bzip2_unpacker *u = state;

	return !u->begun;
}

const struct pack_ops pack_bzip2 = {
	.pack_new = bzip2_new,
	.put = bzip2_put,
	.finish = bzip2_finish,
	.pack_free = bzip2_free,
	.unpack_new = unbzip2_new,
	.step = unbzip2_step,
	.is_whole = unbzip2_is_whole,
	.unpack_free = unbzip2_free,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leveldb_work [MS] - reads and scans a database in memory until it used MS milliseconds of CPU
 * time, and prints the number of iterations.  Built by compare.py. */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"

namespace
{

const unsigned int nr_keys = 4000;
const unsigned int nr_gets = 1500, nr_scans = 20, scan_length = 100;

void check(const leveldb::Status &status, const char *doing)
{
	if (status.ok())
		return;
	std::fprintf(stderr, "leveldb_work: %s: %s\n", doing,
		     status.ToString().c_str());
	std::exit(1);
}

double cpu_ms()
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return static_cast<double>(t.tv_sec) * 1e3 +
	       static_cast<double>(t.tv_nsec) / 1e6;
}

/* A linear congruential generator: all runs use the same keys. */
unsigned int next_number(unsigned long *state)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return static_cast<unsigned int>(*state >> 33);
}

std::string key_of(unsigned int number)
{
	char text[32];

	std::snprintf(text, sizeof(text), "user%08u:name", number % nr_keys);
	return text;
}

void fill(leveldb::DB *db)
{
	for (unsigned int i = 0; i < nr_keys; i += 100) {
		leveldb::WriteBatch batch;

		for (unsigned int j = i; j < i + 100; j++)
			batch.Put(key_of(j), std::string(60 + j % 80, 'a' + j % 26));
		check(db->Write(leveldb::WriteOptions(), &batch), "write");
	}
	db->CompactRange(nullptr, nullptr);
}

void iterate(leveldb::DB *db, unsigned long *state)
{
	std::string value;

	for (unsigned int i = 0; i < nr_gets; i++)
		check(db->Get(leveldb::ReadOptions(), key_of(next_number(state)),
			      &value),
		      "get");
	for (unsigned int i = 0; i < nr_scans; i++) {
		std::unique_ptr<leveldb::Iterator> at(
			db->NewIterator(leveldb::ReadOptions()));

		at->Seek(key_of(next_number(state)));
		for (unsigned int j = 0; j < scan_length && at->Valid(); j++)
			at->Next();
		check(at->status(), "scan");
	}
}

} // namespace

int main(int argc, char **argv)
{
	const double ms = argc > 1 ? std::atof(argv[1]) : 1000;
	std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
	leveldb::Options options;
	unsigned long iterations = 0, state = 1;
	leveldb::DB *db;

	options.create_if_missing = true;
	options.env = env.get();
	check(leveldb::DB::Open(options, "/db", &db), "open");
	fill(db);
	for (; cpu_ms() < ms; iterations++)
		iterate(db, &state);
	delete db;
	std::printf("%lu %.3f\n", iterations, cpu_ms());
	return 0;
}

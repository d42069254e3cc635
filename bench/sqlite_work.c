/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sqlite_work [MS] - queries a database in memory until it used MS milliseconds of CPU time, and
 * prints the number of iterations.  Built by compare.py. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(sqlite3 *db, int r, const char *doing)
{
	if (r != SQLITE_OK && r != SQLITE_ROW && r != SQLITE_DONE) {
		fprintf(stderr, "sqlite_work: %s: %s\n", doing, sqlite3_errmsg(db));
		exit(1);
	}
}

static void sql(sqlite3 *db, const char *text)
{
	check(db, sqlite3_exec(db, text, NULL, NULL, NULL), text);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const double ms = argc > 1 ? atof(argv[1]) : 1000;
	unsigned long iterations = 0;
	sqlite3 *db;

	check(NULL, sqlite3_open(":memory:", &db), "open");
	sql(db, "pragma page_size = 1024");
	sql(db,
	    "create table item(id integer primary key, name text, size int, kind int)");
	sql(db, "create table part(item int, part int, amount real)");
	sql(db, "create index part_item on part(item)");
	sql(db,
	    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)"
	    " insert into item select i, 'name ' || (i * 7919 % 4001), i * 31 % 977, i % 13 from n");
	sql(db, "insert into part select id, id * 17 % 4000 + 1, size / 3.0 from item");
	sql(db, "insert into part select id, id * 71 % 4000 + 1, size / 7.0 from item");
	for (; cpu_ms() < ms; iterations++) {
		sql(db,
		    "select kind, count(*), sum(amount) from item join part on part.item = item.id"
		    " group by kind");
		sql(db, "select count(*) from item where name like '%99%'");
		sql(db,
		    "select i.name, sum(p.amount * j.size) from item i join part p on p.item = i.id"
		    " join item j on j.id = p.part group by i.kind order by 2");
		sql(db, "select name from item order by name limit 50");
		sql(db, "update item set size = size + 1 where kind = 5");
		sql(db,
		    "begin; delete from part where item % 40 = 3;"
		    " insert into part select id, id * 17 % 4000 + 1, size / 3.0 from item where id % 40 = 3;"
		    " commit");
	}
	sqlite3_close(db);
	printf("%lu %.3f\n", iterations, cpu_ms());
	return 0;
}

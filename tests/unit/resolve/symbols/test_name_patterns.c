/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/array.h"
#include "base/err.h"
#include "resolve/symbols/name_patterns.h"
#include "resolve/symbols/name_patterns_priv.h"

/* Checks what a name becomes; with NULL it must stay unchanged. */
static void check(const struct name_patterns *p, const char *name, const char *expected)
{
	char *shown = name_patterns_apply(p, name);

	assert_string_equal(shown ? shown : name, expected);
	free(shown);
}

/* First column: the demangled names that GCC 12 and Clang 14 (libc++) produce for the types in
 * the second column. */
static void shortens_names_of_the_cpp_library(void **state)
{
	static const char *const cases[][2] = {
		{ "main", "main" },
		{ "f(std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> >)",
		  "f(std::string)" },
		{ "f(std::__1::basic_string<char, std::__1::char_traits<char>, "
		  "std::__1::allocator<char>>)",
		  "f(std::string)" },
		{ "f(std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
		  "std::allocator<wchar_t> >)",
		  "f(std::wstring)" },
		{ "f(std::__cxx11::basic_string<char16_t, std::char_traits<char16_t>, "
		  "std::allocator<char16_t> >)",
		  "f(std::u16string)" },
		{ "std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> >::~basic_string()",
		  "std::string::~string()" },
		{ "std::basic_ofstream<wchar_t, std::char_traits<wchar_t> "
		  ">::basic_ofstream(char const*)",
		  "std::wofstream::wofstream(char const*)" },
		{ "std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
		  "<std::char_traits<char> >(std::basic_ostream<char, "
		  "std::char_traits<char> >&, char const*)",
		  "std::ostream& std::operator<<(std::ostream&, char const*)" },
		{ "f(std::vector<std::vector<int, std::allocator<int> >, "
		  "std::allocator<std::vector<int, std::allocator<int> > > >)",
		  "f(std::vector<std::vector<int>>)" },
		{ "f(std::vector<int, My<int> >)", "f(std::vector<int, My<int>>)" },
		{ "f(std::set<S, std::less<S>, std::allocator<S> >&)",
		  "f(std::set<S>&)" },
		{ "f(std::set<S, std::less<void>, std::allocator<S> >)",
		  "f(std::set<S, std::less<>>)" },
		{ "f(std::map<int, int, Cmp, std::allocator<std::pair<int const, int> "
		  "> >&)",
		  "f(std::map<int, int, Cmp>&)" },
		{ "std::_Rb_tree<int, std::pair<int const, S>, "
		  "std::_Select1st<std::pair<int const, S> >, std::less<int>, "
		  "std::allocator<std::pair<int const, S> > >::_M_erase()",
		  "std::_Rb_tree<int, std::pair<int const, S>>::_M_erase()" },
		{ "f(std::unordered_map<long, std::unique_ptr<S, "
		  "std::default_delete<S> >, std::hash<long>, std::equal_to<long>, "
		  "std::allocator<std::pair<long const, std::unique_ptr<S, "
		  "std::default_delete<S> > > > >&)",
		  "f(std::unordered_map<long, std::unique_ptr<S>>&)" },
		{ "std::_Hashtable<int, int, std::allocator<int>, "
		  "std::__detail::_Identity, std::equal_to<int>, std::hash<int>, "
		  "std::__detail::_Mod_range_hashing, "
		  "std::__detail::_Default_ranged_hash, "
		  "std::__detail::_Prime_rehash_policy, "
		  "std::__detail::_Hashtable_traits<false, true, true> >::clear()",
		  "std::_Hashtable<int, int>::clear()" },
		{ "f(std::priority_queue<int, std::vector<int, std::allocator<int> >, "
		  "std::less<int> >, std::stack<long, std::deque<long, "
		  "std::allocator<long> > >)",
		  "f(std::priority_queue<int>, std::stack<long>)" },
		{ "f(std::priority_queue<int, std::vector<int, std::allocator<int> >, "
		  "std::greater<int> >)",
		  "f(std::priority_queue<int, std::vector<int>, std::greater<int>>)" },
		{ "f(__gnu_cxx::__normal_iterator<S const*, std::vector<S, "
		  "std::allocator<S> > >, __gnu_cxx::__normal_iterator<char*, "
		  "std::__cxx11::basic_string<char, std::char_traits<char>, "
		  "std::allocator<char> > >, std::_List_iterator<int>)",
		  "f(std::vector<S>::const_iterator, std::string::iterator, "
		  "std::list<int>::iterator)" },
		{ "f(std::chrono::duration<long, std::ratio<1l, 1000l> >, "
		  "std::chrono::duration<double, std::ratio<1l, 1l> >)",
		  "f(std::chrono::milliseconds, std::chrono::duration<double, "
		  "std::ratio<1>>)" },
		{ "f(std::chrono::time_point<std::chrono::_V2::steady_clock, "
		  "std::chrono::duration<long, std::ratio<1l, 1000000000l> > >)",
		  "f(std::chrono::time_point<std::chrono::steady_clock, "
		  "std::chrono::nanoseconds>)" },
		{ "S::name[abi:cxx11]() const", "S::name() const" },
		{ "std::__detail::_Map_base<int, std::pair<int const, S>, "
		  "std::allocator<std::pair<int const, S> >, "
		  "std::__detail::_Select1st, std::equal_to<int>, std::hash<int>, "
		  "std::__detail::_Mod_range_hashing, "
		  "std::__detail::_Default_ranged_hash, "
		  "std::__detail::_Prime_rehash_policy, "
		  "std::__detail::_Hashtable_traits<false, false, true>, true "
		  ">::operator[](int const&)",
		  "std::__detail::_Map_base<int, std::pair<int const, S>>"
		  "::operator[](int const&)" },
		{ "f(llvm::cl::OptionValue<std::__cxx11::basic_string<char, "
		  "std::char_traits<char>, std::allocator<char> > > const&)",
		  "f(llvm::cl::OptionValue<std::string> const&)" },
		{ "std::_Rb_tree_iterator<std::__cxx11::basic_string<char, "
		  "std::char_traits<char>, std::allocator<char> > > f()",
		  "std::_Rb_tree_iterator<std::string> f()" },
		{ "bool operator> <int>(S<(1) > (2)> const&)",
		  "bool operator> <int>(S<(1) > (2)> const&)" },
	};
	struct name_patterns *p;

	(void)state;
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		check(p, cases[i][0], cases[i][1]);
	name_patterns_free(p);
}

static void applies_rules_of_the_user(void **state)
{
	struct name_patterns *p;

	(void)state;
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	assert_int_equal(name_patterns_add(p, "own",
					   "\n# comment\n  $word = \"[a-z]+\"\r\n"
					   "$pair=\"(${word})-(${word})\"\n"
					   "\"<${pair}>\" = \"\\2\\\\\\1\"\n"
					   "\t\"say \"x\"\"\t=\"\\0!\" \n"
					   "\"cost\\$\" = \"money\"\n"
					   "\"end$\" = \"stop\"",
					   NULL),
			 0);
	check(p, "a <b-c> d", "a c\\b d");
	check(p, "cost$ end", "money stop");
	check(p, "end of", "end of");
	/* A rule that never ends is stopped; the result is the text so far. */
	assert_int_equal(name_patterns_add(p, "more", "\"grow\" = \"growgrow\"", NULL),
			 0);
	free(name_patterns_apply(p, "grow"));
	/* Rules that were read last are applied first. */
	assert_int_equal(name_patterns_add(p, "first", "\"<b-c>\" = \"first\"", NULL),
			 0);
	check(p, "a <b-c> d", "a first d");
	assert_int_equal(name_patterns_add(p, "void", "\"^gone$\" = \"\"", NULL), 0);
	check(p, "gone", "gone");
	name_patterns_free(p);
}

static void supports_more_than_nine_groups(void **state)
{
	struct name_patterns *p;

	(void)state;
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	assert_int_equal(name_patterns_add(p, "own",
					   "\"^(1)(2)(3)(4)(5)(6)(7)(8)(9)(a)(b)(c)?$"
					   "\" = \"\\b\\a\\9\\c.\"",
					   NULL),
			 0);
	check(p, "123456789ab", "ba9.");
	check(p, "123456789abc", "ba9c.");
	name_patterns_free(p);
}

static void reports_wrong_lines(void **state)
{
	static const char *const cases[][2] = {
		{ "\"a\" \"b\"", "own:1: a rule is" },
		{ "\"a\" = b", "own:1: a rule is" },
		{ "\"a\"", "own:1: a rule is" },
		{ "\n\nname = \"b\"", "own:3: a rule is" },
		{ "\"a\" = \"b\"\n\"a\" = \"b\" # why", "own:2: a rule is" },
		{ "$ = \"b\"", "own:1: a definition is" },
		{ "$a = b", "own:1: a definition is" },
		{ "$a \"b\"", "own:1: a definition is" },
		{ "$a = \"${a}\"", "own:1: no such definition" },
		{ "\"${args\" = \"b\"", "own:1: no such definition" },
		{ "\"[a\" = \"b\"", "own:1: Unmatched" },
		{ "\"(a)\" = \"\\2\"", "own:1: the pattern has fewer groups" },
		{ "\"a\" = \"\\?\"", "own:1: a \\ in the replacement" },
		{ "\"a\" = \"\\\"", "own:1: a \\ in the replacement" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct err err = { 0 };
		struct name_patterns *p;

		assert_int_equal(name_patterns_new(&p, &err), 0);
		assert_int_equal(name_patterns_add(p, "own", cases[i][0], &err),
				 -EINVAL);
		if (strncmp(err.text, cases[i][1], strlen(cases[i][1])) != 0)
			fail_msg("%s: %s", cases[i][0], err.text);
		name_patterns_free(p);
	}
}

/* Definitions that double the text: a pattern of any length. */
static void limits_the_size_of_definitions(void **state)
{
	char text[2048] = "$a = \"aaaaaaaaaaaaaaaa\"\n";
	struct err err = { 0 };
	struct name_patterns *p;

	(void)state;
	for (char c = 'b'; c <= 'z'; c++) {
		char *line = text + strlen(text);

		strcpy(line, "$b = \"${a}${a}\"\n");
		line[1] = c;
		line[8] = line[12] = (char)(c - 1);
	}
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	assert_int_equal(name_patterns_add(p, "own", text, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too long"));
	name_patterns_free(p);
}

static void replaces_in_all_matches(void **state)
{
	static const char *const cases[][2] = {
		{ "std::vector", "std::vector" },
		{ "abc?defg", "defg" },
		{ "abcdef?g", "abcde" },
		{ "abc+de", "abc" },
		{ "ab*cd", "cd" },
		{ "(abcdef)gh", "gh" },
		{ "(a[)]b|c\\)d)gh", "gh" },
		{ "abcd|ef", "" },
		{ "ab[^]|<]cde|f", "" },
		{ "ab[[:alpha:]|(]cde", "cde" },
		{ "a\\[b\\<cd", "a[b" },
		{ "^ab$", "ab" },
		{ "ab{12,34}cd", "cd" },
		{ "a.bc", "bc" },
		{ "(x)\\1y", "y" },
		{ "", "" },
		{ "[", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *literal = name_pattern_literal(cases[i][0]);

		assert_string_equal(literal, cases[i][1]);
		free(literal);
	}
}

static void reads_rule_files(void **state)
{
	struct err err = { 0 };
	struct name_patterns *p;

	(void)state;
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	assert_int_equal(name_patterns_read(p, "/nonexistent/x", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(name_patterns_read(p, "/dev/null", &err), 0);
	check(p, "a", "a");
	name_patterns_free(p);
}

static void handles_allocation_failure(void **state)
{
	static const char own[] = "$a = \"x\"\n\"${a}(y)\" = \"\\1\"\n";
	struct name_patterns *p;

	(void)state;
	assert_int_equal(name_patterns_new(&p, NULL), 0);
	for (unsigned long n = 1;; n++) {
		int r;

		alloc_fail_at(n);
		r = name_patterns_add(p, "own", own, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			assert_true(n > 3);
			break;
		}
		assert_int_not_equal(r, 0);
	}
	for (unsigned long n = 1;; n++) {
		char *shown;

		alloc_fail_at(n);
		shown = name_patterns_apply(p, "xy");
		if (!alloc_fail_off()) {
			assert_string_equal(shown, "y");
			free(shown);
			break;
		}
		free(shown);
	}
	name_patterns_free(p);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(shortens_names_of_the_cpp_library),
		cmocka_unit_test(applies_rules_of_the_user),
		cmocka_unit_test(supports_more_than_nine_groups),
		cmocka_unit_test(reports_wrong_lines),
		cmocka_unit_test(limits_the_size_of_definitions),
		cmocka_unit_test(replaces_in_all_matches),
		cmocka_unit_test(reads_rule_files),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Rules of opreport --demangle=smart: names of the C++ standard library (GNU's and LLVM's)
# as a programmer writes them.  The syntax is in oprofile's docs/symbols.md.  Rules of your
# own belong in ~/.config/oprofile/stl.pat; they come before these and may use these
# definitions.
#
# No pattern here refers back to a group of its own: that would take long to match.

# Arguments of a template, themselves with arguments up to six deep.  Every definition has
# as many groups as its depth, and ${type} seven: count them for a replacement.
$args0 = "[^<>]*"
$args1 = "[^<>]*(<${args0}>[^<>]*)*"
$args2 = "[^<>]*(<${args1}>[^<>]*)*"
$args3 = "[^<>]*(<${args2}>[^<>]*)*"
$args4 = "[^<>]*(<${args3}>[^<>]*)*"
$args5 = "[^<>]*(<${args4}>[^<>]*)*"
$args = "[^<>]*(<${args5}>[^<>]*)*"
# One argument.
$type = "[^<>,]*(<${args}>[^<>,]*)*"

# Namespaces and marks that only the linker needs.
"std::([a-z]+::)?(__cxx11|__1|__ndk1|_V2)::" = "std::\1"
"\[abi:[_a-zA-Z0-9]+\]" = ""

# Strings and streams.
$plain = "ios|streambuf|istream|ostream|iostream|filebuf|ifstream|ofstream|fstream|string_view"
$alloc = "string|stringbuf|istringstream|ostringstream|stringstream"
"std::basic_(${alloc})<char, std::char_traits<char>, std::allocator<char> ?>" = "std::\1"
"std::basic_(${alloc})<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> ?>" = "std::w\1"
"std::basic_string<char(8|16|32)_t, std::char_traits<char.{1,4}>, std::allocator<char.{1,4}> ?>" = "std::u\1string"
"std::basic_(${plain})<char, std::char_traits<char> ?>" = "std::\1"
"std::basic_(${plain})<wchar_t, std::char_traits<wchar_t> ?>" = "std::w\1"
"std::basic_string_view<char(8|16|32)_t, std::char_traits<char.{1,4}> ?>" = "std::u\1string_view"
"std::basic_regex<char, std::regex_traits<char> ?>" = "std::regex"
"std::(w?)(${alloc}|${plain})::(~?)basic_(${alloc}|${plain})\(" = "std::\1\2::\3\1\4("
"std::operator([-+=!<>]+) ?<std::char_traits<[^<>]*> ?>\(" = "std::operator\1("
"std::operator([-+=!<>]+) ?<char(, std::char_traits<char>, std::allocator<char> ?)?>\(" = "std::operator\1("

# Arguments that are what they would be if left out.
", std::allocator<${args}> ?>" = ">"
", std::default_delete<${args}> ?>" = ">"
"std::less<void>" = "std::less<>"
"(std::(map|set|multimap|multiset)<${args}), std::less<[^<>]${args}> ?>" = "\1>"
"(std::_Rb_tree<${type}, ${type}), std::_(Select1st|Identity)<${args}>, std::less<[^<>]${args}> ?>" = "\1>"
"(std::unordered_(map|set|multimap|multiset)<${args}), std::hash<${args}>, std::equal_to<${args}> ?>" = "\1>"
"(std::(_Hashtable|__detail::_(Map_base|Insert_base|Insert))<${type}, ${type}), std::allocator<${args}>, std::__detail::_${args}>" = "\1>"
"(std::(queue|stack)<${type}), std::deque<${args}> ?>" = "\1>"
"(std::priority_queue<${type}), std::vector<${args}>, std::less<[^<>]${args}> ?>" = "\1>"
"(std::[io]streambuf_iterator<[^<>,]*), std::char_traits<[^<>]*> ?>" = "\1>"
"(std::[io]stream_iterator<${type}), char, std::char_traits<char>(, long)? ?>" = "\1>"

# Iterators by the container's name for them.
"__gnu_cxx::__normal_iterator<${type} const\*, (std::[_a-z0-9]*(<${args}>)?) ?>" = "\8::const_iterator"
"__gnu_cxx::__normal_iterator<${type}\*, (std::[_a-z0-9]*(<${args}>)?) ?>" = "\8::iterator"
"std::_List_iterator<(${type})>" = "std::list<\1>::iterator"
"std::_List_const_iterator<(${type})>" = "std::list<\1>::const_iterator"

# Time.
"std::ratio<1l, 1l>" = "std::ratio<1>"
"std::chrono::duration<long, std::ratio<1> ?>" = "std::chrono::seconds"
"std::chrono::duration<long, std::ratio<1l, 1000l> ?>" = "std::chrono::milliseconds"
"std::chrono::duration<long, std::ratio<1l, 1000000l> ?>" = "std::chrono::microseconds"
"std::chrono::duration<long, std::ratio<1l, 1000000000l> ?>" = "std::chrono::nanoseconds"
"std::chrono::duration<long, std::ratio<60l, 1l> ?>" = "std::chrono::minutes"
"std::chrono::duration<long, std::ratio<3600l, 1l> ?>" = "std::chrono::hours"

# Blanks that stood between two ">".  (In expressions demanglers write none.)
"([_a-z0-9]) >" = "\1>"
"> >" = ">>"

/* SPDX-License-Identifier: GPL-2.0-or-later */
// Functions in all kinds of scopes, inlined into one another. Compiled twice into one program: the
// second time with OTHER, as another unit with other functions of the same names.

struct point {
	int x, y;
	int norm() const { return x * 31 + y; }
};
struct frame {
	point low, high;
	int size() const { return high.norm() - low.norm(); }
};
long across(const frame &f, int n);
extern volatile long sink;

template <class F> static inline void repeat(F f, int n)
{
	for (int i = 0; i < n; i++)
		f(i);
}
template <class F, class... G> static inline void each(F f, G... g)
{
	f(1);
	(g(2), ...);
}

namespace {
struct step {
	int k;
	void go(int i) const
	{
		for (int j = 0; j < k; j++)
			sink = sink + i * j;
	}
};
inline void helper(int i) { sink = sink ^ i; }
inline void helper(double d) { sink = static_cast<long>(d * 3); }
template <class T, int N> struct box {
	T v[N];
	T sum() const
	{
		T s{};
		for (int i = 0; i < N; i++)
			s += v[i];
		return s;
	}
};
} // namespace

namespace outer {
inline namespace v1 {
template <class T> struct holder {
	T value;
	struct inner {
		T twice(T t) const { return t + t; }
	};
	T get() const { return inner{}.twice(value); }
};
namespace {
inline void deep(unsigned long i) { sink = static_cast<long>(i) + 7; }
} // namespace
} // namespace v1
} // namespace outer

static inline void work(int n)
{
	auto first = [](int i) { sink = sink + i; };
	auto second = [n](const point &p, const char *s) { sink = p.norm() * n + (s ? 1 : 0); };
	auto generic = [](const auto &x) { sink = static_cast<long>(x) + 5; };
	repeat(first, n);
	second(point{ n, 2 }, "x");
	generic(n);
	generic(n * 2.5);
	{
		auto third = [](int i) {
			sink = sink ^ i ^ 5;
			auto nested = [](int q) { sink = sink + q + 99; };
			nested(i);
		};
		repeat(third, n);
		each(first, third);
	}
}
static inline void work(double d)
{
	auto first = [](int i) { sink = sink - i - 3; };
	repeat(first, static_cast<int>(d));
}

#ifdef OTHER
volatile long sink;
__attribute__((noinline)) long across(const frame &f, int n)
{
	struct local {
		int q;
		int mul() const { return q * 3 + static_cast<int>(sink); }
	};
	step{ n }.go(f.size());
	helper(n + 1);
	work(n * 0.5);
	return local{ n }.mul() + outer::holder<int>{ n }.get();
}
#else
int main(int argc, char **)
{
	frame f{ { argc, 1 }, { 2, argc } };
	step{ argc }.go(3);
	helper(argc);
	helper(argc * 1.5);
	box<int, 3> b{ { argc, 1, 2 } };
	sink = b.sum();
	outer::deep(static_cast<unsigned long>(argc));
	sink = outer::holder<long>{ argc }.get();
	work(argc);
	work(argc * 1.5);
	return static_cast<int>(across(f, argc));
}
#endif

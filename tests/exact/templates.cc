/* SPDX-License-Identifier: GPL-2.0-or-later */
// A program of templates: containers, algorithms, closures, virtual calls, exceptions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shapes {
struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};
template <int Corners> struct polygon : shape {
	explicit polygon(double s) : side(s) {}
	double area() const override
	{
		auto scale = [this](auto x) { return x * side; };
		return scale(side) * Corners / 2.0;
	}
	double side;
};
struct circle : shape {
	explicit circle(double r) : radius(r) {}
	double area() const override { return 3.14159 * radius * radius; }
	double radius;
};
} // namespace shapes

namespace {
template <typename T> class ring {
      public:
	void push(T v)
	{
		items.push_back(std::move(v));
		if (items.size() > 64)
			items.erase(items.begin());
	}
	template <typename F> auto fold(F f) const
	{
		return std::accumulate(items.begin(), items.end(), T{}, f);
	}

      private:
	std::vector<T> items;
};

template <typename... Ts> double total(const Ts &...vs)
{
	return (0.0 + ... + static_cast<double>(vs));
}

using token = std::variant<long, std::string>;

std::vector<token> tokens(const std::string &text)
{
	static const std::regex word("[A-Za-z]+|[0-9]+");
	std::vector<token> out;
	for (std::sregex_iterator i(text.begin(), text.end(), word), e; i != e; ++i) {
		const std::string s = i->str();
		if (std::isdigit(static_cast<unsigned char>(s[0])))
			out.emplace_back(std::stol(s));
		else
			out.emplace_back(s);
	}
	return out;
}

std::optional<long> largest(const std::vector<token> &ts)
{
	std::optional<long> best;
	for (const auto &t : ts)
		std::visit(
			[&](const auto &v) {
				if constexpr (std::is_same_v<std::decay_t<decltype(v)>, long>)
					best = best ? std::max(*best, v) : v;
			},
			t);
	return best;
}
} // namespace

int main(int argc, char **argv)
{
	std::vector<std::unique_ptr<shapes::shape>> all;
	std::unordered_map<std::string, std::set<int>> index;
	std::map<std::pair<int, int>, std::string> grid;
	ring<long> numbers;
	ring<std::string> words;
	std::ostringstream out;

	for (int i = 0; i < argc * 20; i++) {
		all.push_back(std::make_unique<shapes::polygon<3>>(i));
		all.push_back(std::make_unique<shapes::polygon<5>>(i));
		all.push_back(std::make_unique<shapes::circle>(i));
		index[argv[i % argc]].insert(i);
		grid[{ i % 7, i % 5 }] += argv[i % argc];
		numbers.push(i * 7 % 31);
		words.push(std::to_string(i));
	}
	std::sort(all.begin(), all.end(),
		  [](const auto &a, const auto &b) { return a->area() < b->area(); });
	std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
		return std::floor(a->area()) > std::floor(b->area());
	});
	std::function<double(int)> power = [&](int n) {
		return n <= 0 ? 1.0 : 1.5 * power(n - 1);
	};
	try {
		for (const auto &[key, set] : index)
			out << key << set.size() << largest(tokens(key)).value_or(-1);
		out << total(1, 2.5F, 3L, power(argc)) << numbers.fold(std::plus<long>())
		    << words.fold(std::plus<std::string>());
	} catch (const std::exception &e) {
		std::cerr << e.what() << '\n';
	}
	std::cout << out.str() << grid.size() << '\n';
	return all.empty();
}

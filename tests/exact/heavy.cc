/* SPDX-License-Identifier: GPL-2.0-or-later */
// Templates as real libraries write them: matrices by expression templates, JSON by traits.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace {
template <typename Scalar, int Size> using matrix = Eigen::Matrix<Scalar, Size, Size>;

template <typename Scalar, int Size> double solved(int n)
{
	matrix<Scalar, Size> a = matrix<Scalar, Size>::Random(n, n);
	Eigen::Matrix<Scalar, Size, 1> b = a.col(0) + a.row(0).transpose();

	a.diagonal().array() += Scalar(n);
	return std::abs(a.partialPivLu().solve(b).sum()) +
	       std::abs(a.colPivHouseholderQr().solve(b).norm()) +
	       std::abs((a * a.adjoint()).llt().solve(b).sum()) + std::abs(a.inverse().trace());
}

template <typename Scalar> double values(int n)
{
	matrix<Scalar, Eigen::Dynamic> a = matrix<Scalar, Eigen::Dynamic>::Random(n, n);
	matrix<Scalar, Eigen::Dynamic> s = a + a.adjoint();

	return std::abs(Eigen::SelfAdjointEigenSolver<decltype(s)>(s).eigenvalues()[0]);
}

double sparse(int n)
{
	std::vector<Eigen::Triplet<double>> entries;
	Eigen::SparseMatrix<double> a(n, n);

	for (int i = 0; i < n; i++) {
		entries.emplace_back(i, i, 4.0);
		if (i)
			entries.emplace_back(i, i - 1, -1.0);
	}
	a.setFromTriplets(entries.begin(), entries.end());
	Eigen::SparseLU<Eigen::SparseMatrix<double>> lu(a);
	Eigen::ConjugateGradient<Eigen::SparseMatrix<double>> cg(a);
	return (lu.solve(Eigen::VectorXd::Ones(n)) + cg.solve(Eigen::VectorXd::Ones(n))).sum();
}

std::string document(const std::map<std::string, std::vector<double>> &data)
{
	nlohmann::json out = data;
	nlohmann::ordered_json in = nlohmann::ordered_json::parse(out.dump(2));
	std::string all;

	for (const auto &[key, value] : in.items())
		all += key + value.dump();
	for (auto packed : { nlohmann::json::to_cbor(out), nlohmann::json::to_msgpack(out) })
		all += std::to_string(packed.size());
	all += nlohmann::json::diff(out, nlohmann::json::object()).dump();
	return std::regex_replace(all, std::regex("[0-9]+"), "#");
}
} // namespace

int main(int argc, char **)
{
	const double sum = solved<double, 4>(4) + solved<float, 3>(3) +
			   solved<double, Eigen::Dynamic>(argc + 9) +
			   values<double>(argc + 7) + sparse(argc + 20);

	std::cout << sum << document({ { "sum", { sum, 1.0 } }, { "none", {} } }) << '\n';
	return 0;
}

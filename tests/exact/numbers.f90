! SPDX-License-Identifier: GPL-2.0-or-later
! Modules, contained and pure procedures, arrays, recursion.
module solve
	implicit none
contains
	pure function weight(i, j) result(w)
		integer, intent(in) :: i, j
		real(8) :: w
		w = 1.0d0 / (i + j)
	end function weight

	subroutine fill(a)
		real(8), intent(out) :: a(:, :)
		integer :: i, j
		do j = 1, size(a, 2)
			do i = 1, size(a, 1)
				a(i, j) = weight(i, j) + merge(2.0d0, 0.0d0, i == j)
			end do
		end do
	end subroutine fill

	subroutine eliminate(a, b)
		real(8), intent(inout) :: a(:, :), b(:)
		integer :: i, k, n
		n = size(b)
		do k = 1, n - 1
			do i = k + 1, n
				call row(i, k)
			end do
		end do
		do k = n, 1, -1
			b(k) = (b(k) - dot_product(a(k, k + 1:n), b(k + 1:n))) / a(k, k)
		end do
	contains
		subroutine row(i, k)
			integer, intent(in) :: i, k
			real(8) :: f
			f = a(i, k) / a(k, k)
			a(i, k:n) = a(i, k:n) - f * a(k, k:n)
			b(i) = b(i) - f * b(k)
		end subroutine row
	end subroutine eliminate

	recursive function steps(n) result(r)
		integer, intent(in) :: n
		integer :: r
		if (n <= 1) then
			r = 0
		else if (mod(n, 2) == 0) then
			r = 1 + steps(n / 2)
		else
			r = 1 + steps(3 * n + 1)
		end if
	end function steps
end module solve

program numbers
	use solve
	implicit none
	real(8) :: a(40, 40), b(40)
	integer :: i
	call fill(a)
	b = [(real(i, 8), i = 1, 40)]
	call eliminate(a, b)
	print *, sum(b), maxval(abs(b)), (steps(i), i = 1, 30)
end program numbers

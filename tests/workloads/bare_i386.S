/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare_i386.S - a static program for i386: uses CPU time in functions without unwind information.
 * The caller of bare_NAME is call_NAME. */
	.text
	.globl _start
	.type _start,@function
_start:	.cfi_startproc
	.cfi_undefined eip
	xorl %ebp, %ebp
	movl $1500, %esi
1:	call call_leaf
	call call_thunk
	decl %esi
	jnz 1b
	movl $1, %eax
	xorl %ebx, %ebx
	int $0x80
	.cfi_endproc
	.size _start,.-_start
	.type call_leaf,@function
call_leaf: .cfi_startproc
	subl $28, %esp
	.cfi_adjust_cfa_offset 28
	movl $1000000, %ecx
	call bare_leaf
	addl $28, %esp
	.cfi_adjust_cfa_offset -28
	ret
	.cfi_endproc
	.size call_leaf,.-call_leaf
	.type call_thunk,@function
call_thunk: .cfi_startproc
	subl $12, %esp
	.cfi_adjust_cfa_offset 12
	movl $1000000, %ecx
	call bare_thunk
	addl $12, %esp
	.cfi_adjust_cfa_offset -12
	ret
	.cfi_endproc
	.size call_thunk,.-call_thunk
	.type bare_leaf,@function
bare_leaf:
	pushl %edi
	pushl %ebx
1:	decl %ecx
	jnz 1b
	popl %ebx
	popl %edi
	ret
	.size bare_leaf,.-bare_leaf
	.type bare_thunk,@function
bare_thunk:
	pushl %ebx
	/* By this call, code that can be loaded anywhere determines its address. */
	call 1f
1:	popl %ebx
	pushl %ebp
	movl %esp, %ebp
2:	decl %ecx
	jnz 2b
	leave
	popl %ebx
	ret
	.size bare_thunk,.-bare_thunk
	.section .note.GNU-stack,"",@progbits

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion.c - `oprofile completion SHELL`: generates shell completion from the option tables. */
#include <stdio.h>
#include <string.h>

#include "tools/cli/command.h"
#include "tools/commands.h"

/* Prints every long spelling except refused ones, each between `before` and `after`. */
static void print_names(const struct option_row *rows, const char *before,
			const char *after)
{
	for (const struct option_row *row = rows; row->name; row++) {
		const struct option_row *of = options_main_row(rows, row);

		if (of->kind != OPTION_REFUSED)
			printf("%s--%s%s%s", before, row->name,
			       of->value && !of->value_optional ? "=" : "", after);
	}
}

static void print_bash(void)
{
	fputs("# bash completion for oprofile; made by `oprofile completion bash`.\n"
	      "_oprofile_options()\n{\n\tcase \"$1\" in\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];

		printf("\t%s%s%s) printf '%%s\\n'", cmd->name, cmd->classic ? "|" : "",
		       cmd->classic ? cmd->classic : "");
		print_names(cmd->options, " ", "");
		print_names(command_common_rows(cmd), " ", "");
		puts(" ;;");
	}
	fputs("\tesac\n}\n\n_oprofile()\n{\n"
	      "\tlocal cur=\"${COMP_WORDS[COMP_CWORD]}\" cmd=\"${COMP_WORDS[0]##*/}\"\n"
	      "\n"
	      "\tif [ \"$cmd\" = oprofile ]; then\n"
	      "\t\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -W \"help --help --version",
	      stdout);
	for (size_t i = 0; commands[i]; i++)
		printf(" %s", commands[i]->name);
	fputs("\" -- \"$cur\"))\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\t\tcmd=\"${COMP_WORDS[1]}\"\n"
	      "\tfi\n"
	      "\tcase \"$cur\" in\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$(_oprofile_options \"$cmd\")\" -- \"$cur\"))\n"
	      "\t\tif [[ ${COMPREPLY[0]-} == *= ]]; "
	      "then compopt -o nospace; fi ;;\n"
	      "\t*) compopt -o default ;;\n"
	      "\tesac\n"
	      "}\n"
	      "complete -F _oprofile oprofile",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->classic)
			printf(" %s", commands[i]->classic);
	}
	putchar('\n');
}

/* Prints a help text inside '...[...]' of zsh's _arguments. */
static void print_zsh_text(const char *text)
{
	for (; *text && *text != '\n'; text++) {
		if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			putchar('\\');
		if (*text == '\'')
			fputs("'\\'", stdout);
		putchar(*text);
	}
}

static void print_zsh_rows(const struct option_row *rows)
{
	for (const struct option_row *row = rows; row->name; row++) {
		const struct option_row *of = options_main_row(rows, row);

		if (of->kind == OPTION_REFUSED)
			continue;
		printf(" \\\n\t\t'*--%s%s[", row->name,
		       !of->value           ? ""
		       : of->value_optional ? "=-"
					    : "=");
		print_zsh_text(of->help);
		putchar(']');
		if (of->value) {
			fputs(of->value_optional ? "::" : ":", stdout);
			print_zsh_text(of->value);
			fputs(":_files", stdout);
		}
		putchar('\'');
	}
}

static void print_zsh(void)
{
	fputs("#compdef oprofile", stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->classic)
			printf(" %s", commands[i]->classic);
	}
	fputs("\n# zsh completion for oprofile; made by `oprofile completion zsh`.\n"
	      "local cmd=$service\n"
	      "if [[ $service == oprofile ]]; then\n"
	      "\tif (( CURRENT == 2 )); then\n"
	      "\t\tcompadd -- help",
	      stdout);
	for (size_t i = 0; commands[i]; i++)
		printf(" %s", commands[i]->name);
	fputs("\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcmd=$words[2]\n"
	      "\tshift words\n"
	      "\t(( CURRENT-- ))\n"
	      "fi\n"
	      "case $cmd in\n",
	      stdout);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];

		printf("%s%s%s)\n\t_arguments", cmd->name, cmd->classic ? "|" : "",
		       cmd->classic ? cmd->classic : "");
		print_zsh_rows(cmd->options);
		print_zsh_rows(command_common_rows(cmd));
		fputs(" \\\n\t\t'*:word:_files' ;;\n", stdout);
	}
	puts("esac");
}

/* Prints a text up to the end of its line, in single quotes of fish. */
static void print_fish_text(const char *text)
{
	putchar('\'');
	for (; *text && *text != '\n'; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

/* Prints the options of a command that is called by `name`, which can be "oprofile" with the
 * command as its first argument. */
static void print_fish_rows(const char *name, const char *argument,
			    const struct option_row *rows)
{
	for (const struct option_row *row = rows; row->name; row++) {
		const struct option_row *of = options_main_row(rows, row);

		if (of->kind == OPTION_REFUSED)
			continue;
		printf("complete -c %s", name);
		if (argument)
			printf(" -n '__fish_seen_subcommand_from %s'", argument);
		printf(" -l %s", row->name);
		if (row->letter)
			printf(" -s '%c'", row->letter);
		fputs(of->value && !of->value_optional ? " -r -d " : " -d ", stdout);
		print_fish_text(of->help);
		putchar('\n');
	}
}

static void print_fish(void)
{
	puts("# fish completion for oprofile; made by `oprofile completion fish`.\n"
	     "complete -c oprofile -n __fish_use_subcommand -a help -d 'Show the help.'");
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];

		printf("complete -c oprofile -n __fish_use_subcommand -a %s -d ",
		       cmd->name);
		print_fish_text(cmd->summary);
		putchar('\n');
		print_fish_rows("oprofile", cmd->name, cmd->options);
		print_fish_rows("oprofile", cmd->name, command_common_rows(cmd));
		if (!cmd->classic)
			continue;
		print_fish_rows(cmd->classic, NULL, cmd->options);
		print_fish_rows(cmd->classic, NULL, command_common_rows(cmd));
	}
}

static int completion_run(const struct command *self, int argc, char **argv)
{
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, NULL, &first);

	if (r >= 0)
		return r;
	if (argc - first == 1 && !strcmp(argv[first], "bash")) {
		print_bash();
		return 0;
	}
	if (argc - first == 1 && !strcmp(argv[first], "zsh")) {
		print_zsh();
		return 0;
	}
	if (argc - first == 1 && !strcmp(argv[first], "fish")) {
		print_fish();
		return 0;
	}
	command_error("give one shell: bash, zsh or fish");
	return 1;
}

static const struct option_row rows[] = { { 0 } };

extern const struct command command_completion; /* for commands.c */

const struct command command_completion = {
	.name = "completion",
	.summary = "print the completion script for a shell",
	.usage = "bash\nzsh\nfish",
	.notes = "For this shell only:  source <(oprofile completion bash)",
	.options = rows,
	.run = completion_run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jvm_agent.c - an agent of a Java virtual machine that reports compiled methods and their
 * lines to libopagent. tests/cmd/jit.bats builds it if there is a jvmti.h. A single thread of
 * the virtual machine calls it (JVM Tool Interface, "CompiledMethodLoad"). */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opagent/opagent.h"

static op_agent_t agent;

/* "Lcom/x/Burn;" and "run" make "com.x.Burn.run". */
static void put_name(char *out, size_t bytes, const char *class, const char *method)
{
	snprintf(out, bytes, "%.*s.%s", (int)strcspn(class + 1, ";"), class + 1,
		 method);
	for (char *c = strchr(out, '/'); c; c = strchr(c, '/'))
		*c = '.';
}

static unsigned int line_of(const jvmtiLineNumberEntry *table, jint nr, jlocation at)
{
	unsigned int line = 0;
	jlocation best = -1;

	for (jint i = 0; i < nr; i++)
		if (table[i].start_location <= at && table[i].start_location >= best) {
			best = table[i].start_location;
			line = (unsigned int)table[i].line_number;
		}
	return line;
}

static void tell_lines(jvmtiEnv *env, jmethodID method, jclass class, const void *code,
		       jint nr, const jvmtiAddrLocationMap *map)
{
	struct debug_line_info *lines = calloc((size_t)nr + 1, sizeof(*lines));
	jvmtiLineNumberEntry *table = NULL;
	char *file = NULL;
	jint nr_table = 0;

	if (lines && !(*env)->GetLineNumberTable(env, method, &nr_table, &table) &&
	    !(*env)->GetSourceFileName(env, class, &file)) {
		for (jint i = 0; i < nr; i++)
			lines[i] = (struct debug_line_info){
				(unsigned long)map[i].start_address,
				line_of(table, nr_table, map[i].location), file
			};
		if (nr)
			op_write_debug_line_info(agent, code, (size_t)nr, lines);
	}
	(*env)->Deallocate(env, (unsigned char *)table);
	(*env)->Deallocate(env, (unsigned char *)file);
	free(lines);
}

static void JNICALL loaded(jvmtiEnv *env, jmethodID method, jint bytes,
			   const void *code, jint nr, const jvmtiAddrLocationMap *map,
			   const void *info)
{
	char *name = NULL, *class_name = NULL;
	char text[512];
	jclass class;

	(void)info;
	if (!(*env)->GetMethodDeclaringClass(env, method, &class) &&
	    !(*env)->GetClassSignature(env, class, &class_name, NULL) &&
	    !(*env)->GetMethodName(env, method, &name, NULL, NULL)) {
		put_name(text, sizeof(text), class_name, name);
		if (!op_write_native_code(agent, text, (uint64_t)(uintptr_t)code, code,
					  (unsigned int)bytes))
			tell_lines(env, method, class, code, nr, map);
	}
	(*env)->Deallocate(env, (unsigned char *)name);
	(*env)->Deallocate(env, (unsigned char *)class_name);
}

static void JNICALL unloaded(jvmtiEnv *env, jmethodID method, const void *code)
{
	(void)env;
	(void)method;
	op_unload_native_code(agent, (uint64_t)(uintptr_t)code);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiCapabilities wanted = { .can_generate_compiled_method_load_events =
						   1,
					   .can_get_line_numbers = 1,
					   .can_get_source_file_name = 1 };
	const jvmtiEventCallbacks calls = { .CompiledMethodLoad = loaded,
					    .CompiledMethodUnload = unloaded };
	jvmtiEnv *env;

	(void)options;
	(void)reserved;
	agent = op_open_agent();
	if (!agent || (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1) ||
	    (*env)->AddCapabilities(env, &wanted) ||
	    (*env)->SetEventCallbacks(env, &calls, sizeof(calls)) ||
	    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE,
					     JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL) ||
	    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE,
					     JVMTI_EVENT_COMPILED_METHOD_UNLOAD, NULL))
		return 1;
	return 0;
}

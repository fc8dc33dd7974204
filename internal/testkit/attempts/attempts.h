// What the attempts share. Each attempt is one subcommand of the program; it prints one line.
#ifndef ATTEMPTS_H
#define ATTEMPTS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attempt {
	const char *name;
	int (*run)(char **arg);
};

// An attempt returns 0 for "ok", -1 for the name of errno, and 1 when it has printed its answer.
#define ATTEMPT(id)                                                                                          \
	static int attempt_##id(char **arg);                                                                 \
	static struct attempt row_##id __attribute__((used, section("attempts"), aligned(sizeof(void *)))) = \
	    {#id, attempt_##id};                                                                             \
	static int attempt_##id(char **arg)

// must ends the program with "what: ERRNO" when a step before the attempt proper fails, so that the two cannot be mixed up.
int must(const char *what, long result);

// own makes user and mount namespaces, if it can: the usual first step of an attack on the mounts. A failure is passed over,
// as an attacker would.
void own_namespaces(void);

static inline unsigned long number(const char *s) { return strtoul(s, NULL, 0); }

#endif

// Typing into a terminal whose input others read.
#include "attempts.h"
#include <sys/syscall.h>

// type REQUEST TEXT: puts a text into the input of the terminal that is standard input, character by character.
ATTEMPT(type) {
	for (const char *c = arg[1]; *c; c++)
		if (syscall(SYS_ioctl, 0, number(arg[0]), c))
			return -1;
	return 0;
}

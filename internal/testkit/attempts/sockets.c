// Sockets and what they lead to.
#include "attempts.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

// Domain, type and protocol as given, in all 64 bits.
ATTEMPT(socket) { return syscall(SYS_socket, number(arg[0]), number(arg[1]), number(arg[2])) < 0 ? -1 : 0; }

ATTEMPT(socketpair) {
	int fds[2];
	char c = 'x';
	if (socketpair(AF_UNIX, (int)number(arg[0]), 0, fds))
		return -1;
	return write(fds[0], &c, 1) == 1 && read(fds[1], &c, 1) == 1 ? 0 : -1;
}

static socklen_t unix_address(struct sockaddr_un *a, const char *name) {
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	strncpy(a->sun_path, name, sizeof a->sun_path - 1);
	if (name[0] == '@')
		a->sun_path[0] = 0; // the abstract name space
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

ATTEMPT(unixconnect) {
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, arg[0]);
	int fd = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	return connect(fd, (struct sockaddr *)&a, n);
}

ATTEMPT(unixbind) {
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, arg[0]);
	int fd = must("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	return bind(fd, (struct sockaddr *)&a, n);
}

// One end of a datagram pair is a socket like any other, and sends wherever it is told to.
ATTEMPT(pairsend) {
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, arg[0]);
	int fds[2];
	must("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
	return sendto(fds[0], "x", 1, 0, (struct sockaddr *)&a, n) < 0 ? -1 : 0;
}

// A stream pair cannot be pointed elsewhere.
ATTEMPT(pairconnect) {
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, arg[0]);
	int fds[2];
	must("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	return connect(fds[0], (struct sockaddr *)&a, n);
}

static struct sockaddr_in address(char **arg) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)number(arg[1]))};
	inet_pton(AF_INET, arg[0], &a.sin_addr);
	return a;
}

ATTEMPT(tcp) {
	struct sockaddr_in a = address(arg);
	return connect(must("socket", socket(AF_INET, SOCK_STREAM, 0)), (struct sockaddr *)&a, sizeof a);
}

ATTEMPT(udp) {
	struct sockaddr_in a = address(arg);
	int fd = must("socket", socket(AF_INET, SOCK_DGRAM, 0));
	return sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof a) < 0 ? -1 : 0;
}

// A connection that is made by the first send, past rules on connect.
ATTEMPT(fastopen) {
	struct sockaddr_in a = address(arg);
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	return sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&a, sizeof a) < 0 ? -1 : 0;
}

// The same by setsockopt and an ordinary connect.
ATTEMPT(fastopenconnect) {
	struct sockaddr_in a = address(arg);
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0)), one = 1;
	must("setsockopt", setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one));
	must("connect", connect(fd, (struct sockaddr *)&a, sizeof a));
	return send(fd, "x", 1, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

// Listens on every address, prints the port, and stays until standard input ends.
ATTEMPT(listen) {
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof a;
	int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	must("bind", bind(fd, (struct sockaddr *)&a, n));
	must("listen", listen(fd, 8));
	must("getsockname", getsockname(fd, (struct sockaddr *)&a, &n));
	printf("%d\n", ntohs(a.sin_port));
	char c;
	return read(0, &c, 1) < 0 ? -1 : 1;
}

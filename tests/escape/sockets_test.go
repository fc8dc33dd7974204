package escape

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// socketRows make sockets and reach for those of the host. Numbers are of linux/socket.h and linux/in.h.
func socketRows() []row {
	abstract := fmt.Sprintf("@sandboxctl-attempt-%d", os.Getpid())
	rows := []row{
		{name: "local socket by path", attempt: "$A unixconnect host.sock", inside: "socket: EPERM", outside: "ok", before: listenAt("unix", "host.sock")},
		{name: "local socket by path outside", attempt: "$A unixconnect ~/host.sock", inside: "socket: EPERM", outside: "ok", before: listenAt("unix", "../host.sock")},
		{name: "local socket in the abstract name space", attempt: "$A unixconnect " + abstract, inside: "socket: EPERM", outside: "ok", before: listenAt("unix", abstract)},
		{name: "bind a local socket", attempt: "$A unixbind x.sock", inside: "socket: EPERM", outside: "ok"},
		{name: "a datagram pair sends to a path", attempt: "$A pairsend host.sock", inside: "socketpair: EPERM", outside: "ok", before: listenAt("unixgram", "host.sock")},
		{name: "a stream pair connects to a path", attempt: "$A pairconnect host.sock", inside: "EISCONN|EINVAL", same: true, before: listenAt("unix", "host.sock")},
		{name: "stream pair", attempt: "$A socketpair 1", inside: "ok", same: true},
		{name: "sequenced pair", attempt: "$A socketpair 5", inside: "ok", same: true},
		{name: "stream pair closed on exec", attempt: "$A socketpair 0x80001", inside: "ok", same: true},
		{name: "datagram pair", attempt: "$A socketpair 2", inside: "EPERM", outside: "ok"},
		{name: "datagram pair by another type", attempt: "$A socketpair 3", inside: "EPERM", outside: "ok"},

		{name: "connect to a server of the host", attempt: "$A tcp 127.0.0.1 $PORT", inside: "ECONNREFUSED", outside: "ok"},
		{name: "connect by the first send", attempt: "$A fastopen 127.0.0.1 $PORT", inside: "EPERM", outside: "ok"},
		{name: "connect by the first write", attempt: "$A fastopenconnect 127.0.0.1 $PORT", inside: "connect: ECONNREFUSED|ECONNREFUSED|EINPROGRESS", outside: "ok"},
		{name: "send to another network", attempt: "$A udp 192.0.2.1 53", inside: "ENETUNREACH", outside: "ok", lacks: "ENETUNREACH"},
		{name: "interfaces", attempt: "tail -n +3 /proc/net/dev | cut -d: -f1 | xargs", inside: "lo", outside: anything},
		{name: "routes", attempt: "tail -n +2 /proc/net/route | grep -c .", inside: "0", outside: anything},
		{name: "servers of the host", attempt: "tail -n +2 /proc/net/tcp | grep -c .", inside: "0", outside: anything},
	}
	for _, s := range []struct{ name, numbers, outside, user string }{
		{"AF_UNIX", "1 1 0", "ok", ""},
		{"AF_UNIX with high bits", "0x100000001 1 0", "ok", ""},
		{"AF_UNIX datagram", "1 2 0", "ok", ""},
		{"raw ICMP", "2 3 1", "ok", "EPERM"},
		{"ICMP datagram", "2 2 1", "ok|EACCES", "ok|EACCES"},
		{"raw IPv6", "10 3 58", "ok|EAFNOSUPPORT", "EPERM|EAFNOSUPPORT"},
		{"MPTCP", "2 1 262", "ok|EPROTONOSUPPORT|ENOPROTOOPT", ""},
		{"SCTP", "2 1 132", "ok|EPROTONOSUPPORT", ""},
		{"SMC", "2 1 256", "ok|EPROTONOSUPPORT", ""},
		{"UDP-Lite", "2 2 136", "ok|EPROTONOSUPPORT", ""},
		{"AF_PACKET", "17 3 0x300", "ok|EAFNOSUPPORT", "EPERM|EAFNOSUPPORT"},
		{"AF_PACKET old", "2 10 0x300", "ok|EAFNOSUPPORT|ESOCKTNOSUPPORT", "EPERM|EAFNOSUPPORT|ESOCKTNOSUPPORT"},
		{"AF_ALG", "38 5 0", "ok|EAFNOSUPPORT", ""},
		{"AF_VSOCK", "40 1 0", "ok|EAFNOSUPPORT|ENODEV", ""},
		{"AF_BLUETOOTH", "31 3 1", "ok|EAFNOSUPPORT", "ok|EPERM|EAFNOSUPPORT"},
		{"AF_XDP", "44 3 0", "ok|EAFNOSUPPORT", "EPERM|EAFNOSUPPORT"},
		{"AF_KEY", "15 3 2", "ok|EAFNOSUPPORT", "EPERM|EAFNOSUPPORT"},
		{"AF_TIPC", "30 1 0", "ok|EAFNOSUPPORT", ""},
		{"NETLINK_NETFILTER", "16 3 12", "ok|EPROTONOSUPPORT", ""},
		{"NETLINK_KOBJECT_UEVENT", "16 3 15", "ok|EPROTONOSUPPORT", ""},
		{"NETLINK_AUDIT", "16 3 9", "ok|EPROTONOSUPPORT", ""},
	} {
		rows = append(rows, row{name: "socket " + s.name, attempt: "$A socket " + s.numbers, inside: "EPERM", outside: s.outside, user: s.user})
	}
	for _, s := range []struct{ name, numbers string }{
		{"TCP", "2 1 0"}, {"TCP by number", "2 1 6"}, {"UDP", "2 2 0"}, {"TCP over IPv6", "10 1 0"}, {"NETLINK_ROUTE", "16 3 0"},
	} {
		rows = append(rows, row{name: "socket " + s.name, attempt: "$A socket " + s.numbers, inside: "ok", same: true})
	}
	return rows
}

// listenAt listens on the host at a path relative to the project, or at an abstract name.
func listenAt(network, name string) func(t *testing.T, w *testkit.World) {
	return func(t *testing.T, w *testkit.World) {
		path := name
		if name[0] != '@' {
			path = w.P + "/" + name
		}
		address := &net.UnixAddr{Net: network, Name: path}
		if network == "unixgram" {
			c, err := net.ListenUnixgram(network, address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return
		}
		l, err := net.ListenUnix(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
}

// hostServer listens on the host's loopback and returns the port.
func hostServer(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

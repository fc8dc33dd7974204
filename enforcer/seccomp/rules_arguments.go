package seccomp

import "golang.org/x/sys/unix"

// Values that x/sys/unix lacks, or has for the architecture of the build alone. They are equal on amd64 and arm64
// (asm-generic/ioctls.h, linux/net.h, linux/personality.h).
const (
	tiocsti        = 0x5412
	tioclinux      = 0x541c
	socketTypeMask = 0xf // SOCK_TYPE_MASK

	perLinux    = 0x0
	perLinux32  = 0x8
	uname26     = 0x20000
	personaAsks = 0xffffffff // changes nothing, gives the present one
)

// argumentRules are the calls that are allowed with some arguments only.
func argumentRules() []Rule {
	var rules []Rule
	rules = append(rules, socketRules()...)
	rules = append(rules, fastOpenRules()...)
	rules = append(rules, cloneRules()...)
	rules = append(rules, terminalRules()...)
	rules = append(rules, priorityRules()...)
	rules = append(rules, personalityRules()...)
	return rules
}

// is compares an int or unsigned argument.
func is(arg int, name string, value uint64, meaning string) Condition {
	return Condition{Arg: arg, Name: name, Mask: widthInt, Value: value, Meaning: meaning}
}

// has tests for one bit of a flag word.
func has(arg int, name string, bit uint64, meaning string) Condition {
	return Condition{Arg: arg, Name: name, Mask: bit, Value: bit, Meaning: meaning}
}

// socketType compares socket's second argument below its flags (SOCK_CLOEXEC, SOCK_NONBLOCK), as the kernel does.
func socketType(value uint64, meaning string) Condition {
	return Condition{Arg: 1, Name: "type", Mask: socketTypeMask, Value: value, Meaning: meaning}
}

// socketRules list what is allowed: of a family the plain stream and datagram types with their default protocols. So
// raw sockets, SCTP, MPTCP, SMC (protocol 256 of AF_INET) and what comes later are refused without being named.
// Landlock's TCP rules see none of those.
func socketRules() []Rule {
	unixFamily := is(0, "domain", unix.AF_UNIX, "AF_UNIX")
	var rules []Rule
	for _, family := range []Condition{
		is(0, "domain", unix.AF_INET, "AF_INET"),
		is(0, "domain", unix.AF_INET6, "AF_INET6"),
	} {
		stream, datagram := socketType(unix.SOCK_STREAM, "SOCK_STREAM"), socketType(unix.SOCK_DGRAM, "SOCK_DGRAM")
		rules = append(rules,
			allowed("socket", "TCP", family, stream, is(2, "protocol", 0, "0")),
			allowed("socket", "TCP", family, stream, is(2, "protocol", unix.IPPROTO_TCP, "IPPROTO_TCP")),
			allowed("socket", "UDP", family, datagram, is(2, "protocol", 0, "0")),
			allowed("socket", "UDP", family, datagram, is(2, "protocol", unix.IPPROTO_UDP, "IPPROTO_UDP")),
		)
	}
	return append(rules,
		allowed("socket", "getifaddrs and name look-ups read the sandbox's own interfaces",
			is(0, "domain", unix.AF_NETLINK, "AF_NETLINK"), is(2, "protocol", unix.NETLINK_ROUTE, "NETLINK_ROUTE")),
		allowed("socket", "with the option that lifts the refusal below", unixFamily),
		Rule{Syscall: "socket", Args: []Condition{unixFamily}, LiftedBy: UnixSockets,
			Reason: "services of the host listen on paths: docker.sock, the session bus, ssh and gpg agents"},
		Rule{Syscall: "socket",
			Reason: "every other family, type and protocol: raw and packet sockets, AF_ALG, AF_VSOCK, MPTCP, SCTP"},

		allowed("socketpair", "libuv, Python and shells make them for their children",
			unixFamily, socketType(unix.SOCK_STREAM, "SOCK_STREAM")),
		allowed("socketpair", "as a stream: cannot be pointed elsewhere once made",
			unixFamily, socketType(unix.SOCK_SEQPACKET, "SOCK_SEQPACKET")),
		allowed("socketpair", "with the option that lifts the refusal below",
			unixFamily, socketType(unix.SOCK_DGRAM, "SOCK_DGRAM")),
		Rule{Syscall: "socketpair", Args: []Condition{socketType(unix.SOCK_DGRAM, "SOCK_DGRAM")}, LiftedBy: UnixSockets,
			Reason: "one end sends to any path with sendto, or connects anew: an AF_UNIX socket after all"},
		Rule{Syscall: "socketpair",
			Reason: "other types; AF_UNIX makes a datagram pair of SOCK_RAW"},
	)
}

// fastOpenRules are against a connection made by the first send.
func fastOpenRules() []Rule {
	const reason = "TCP Fast Open connects without connect(2), past rules on it"
	return []Rule{
		{Syscall: "sendto", Args: []Condition{has(3, "flags", unix.MSG_FASTOPEN, "MSG_FASTOPEN")}, Reason: reason},
		{Syscall: "sendmsg", Args: []Condition{has(2, "flags", unix.MSG_FASTOPEN, "MSG_FASTOPEN")}, Reason: reason},
		{Syscall: "sendmmsg", Args: []Condition{has(3, "flags", unix.MSG_FASTOPEN, "MSG_FASTOPEN")}, Reason: reason},
	}
}

// cloneRules take one row for each flag: Docker's list asks that all be absent, which is one comparison, but then
// what is refused has no row of its own. CLONE_NEWTIME is none of clone's: there it is part of the exit signal.
func cloneRules() []Rule {
	var rules []Rule
	for _, flag := range []struct {
		bit  uint64
		name string
	}{
		{unix.CLONE_NEWNS, "CLONE_NEWNS"},
		{unix.CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
		{unix.CLONE_NEWUTS, "CLONE_NEWUTS"},
		{unix.CLONE_NEWIPC, "CLONE_NEWIPC"},
		{unix.CLONE_NEWUSER, "CLONE_NEWUSER"},
		{unix.CLONE_NEWPID, "CLONE_NEWPID"},
		{unix.CLONE_NEWNET, "CLONE_NEWNET"},
	} {
		rules = append(rules, Rule{Syscall: "clone", Args: []Condition{has(0, "flags", flag.bit, flag.name)},
			LiftedBy: NestedNamespaces, Reason: "a new namespace, as by unshare"})
	}
	return append(rules, Rule{Syscall: "clone",
		Args:   []Condition{{Arg: 0, Name: "flags", Test: Above, Mask: widthLong, Value: 0xffffffff, Meaning: "32 bits"}},
		Reason: "flags above bit 31 are clone3's (CLONE_INTO_CGROUP, CLONE_CLEAR_SIGHAND); clone has no use for them"})
}

// terminalRules are against typing into the terminal that the sandbox was started from.
func terminalRules() []Rule {
	return []Rule{
		{Syscall: "ioctl", Args: []Condition{is(1, "op", tiocsti, "TIOCSTI")},
			Reason: "pushes characters into the terminal's input, which the shell outside runs (CVE-2017-5226; with a dirty upper half CVE-2019-10063)"},
		{Syscall: "ioctl", Args: []Condition{is(1, "op", tioclinux, "TIOCLINUX")},
			Reason: "pastes a selection into a virtual console's input (CVE-2023-28100)"},
	}
}

// priorityRules are against slowing down the processes outside that share the process group: a group of 0 is the caller's
// own, whose other members a PID namespace does not hide.
func priorityRules() []Rule {
	return []Rule{
		{Syscall: "setpriority", Args: []Condition{is(0, "which", unix.PRIO_PGRP, "PRIO_PGRP")},
			Reason: "changes the nice value of the launcher and of what the user runs beside it"},
		{Syscall: "ioprio_set", Args: []Condition{is(0, "which", ioprioWhoPgrp, "IOPRIO_WHO_PGRP")},
			Reason: "changes the I/O priority of the launcher and of what the user runs beside it"},
	}
}

// ioprioWhoPgrp is IOPRIO_WHO_PGRP of linux/ioprio.h.
const ioprioWhoPgrp = 2

// personalityRules are Docker's, in full width as there: another width would let through what its list refuses.
func personalityRules() []Rule {
	var rules []Rule
	for _, persona := range []struct {
		value   uint64
		meaning string
	}{
		{perLinux, "PER_LINUX"},
		{perLinux32, "PER_LINUX32"},
		{uname26, "UNAME26"},
		{perLinux32 | uname26, "PER_LINUX32|UNAME26"},
		{personaAsks, "0xffffffff"},
	} {
		rules = append(rules, allowed("personality", "setarch and uname; 0xffffffff asks for the present one",
			Condition{Arg: 0, Name: "persona", Mask: widthLong, Value: persona.value, Meaning: persona.meaning}))
	}
	return append(rules, Rule{Syscall: "personality",
		Reason: "other personalities turn off address randomisation or make pages executable"})
}

func allowed(call, reason string, args ...Condition) Rule {
	return Rule{Syscall: call, Args: args, Action: Allow, Reason: reason}
}

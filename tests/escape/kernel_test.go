package escape

import (
	"runtime"
)

// kernelRows are calls that no ordinary program needs. Where the control is an errno, the kernel has looked at arguments that
// are wrong on purpose; ENOSYS is a kernel without the feature. An ordinary user is refused some of them by the kernel itself.
func kernelRows() []row {
	rows := []row{
		{name: "io_uring_setup", attempt: "$A iouring", inside: "ENOSYS", outside: "ok|EPERM"},
		{name: "io_uring_enter", attempt: "$A iouringenter", inside: "ENOSYS", outside: "EBADF|EPERM"},
		{name: "io_uring_register", attempt: "$A iouringregister", inside: "ENOSYS", outside: "EBADF|EINVAL|EPERM"},
		{name: "personality", attempt: "$A personality", inside: "EPERM", outside: "ok"},
		{name: "bpf", attempt: "$A bpf", inside: "EPERM", outside: "ok|ENOSYS", user: "ok|EPERM|ENOSYS"},
		{name: "perf_event_open", attempt: "$A perf", inside: "EPERM", outside: "EFAULT|ENOSYS", user: "EFAULT|EACCES|EPERM|ENOSYS"},
		{name: "userfaultfd", attempt: "$A userfaultfd", inside: "EPERM", outside: "ok|ENOSYS"},
		{name: "kexec_load", attempt: "$A kexec", inside: "EPERM", outside: "EINVAL|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "kexec_file_load", attempt: "$A kexecfile", inside: "EPERM", outside: "EINVAL|EBADF|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "init_module", attempt: "$A initmodule", inside: "EPERM", outside: "EFAULT|ENOEXEC|EINVAL|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "finit_module", attempt: "$A finitmodule", inside: "EPERM", outside: "EBADF|ENOEXEC|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "delete_module", attempt: "$A deletemodule", inside: "EPERM", outside: "ENOENT|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "add_key", attempt: "$A addkey", inside: "EPERM", outside: "ok|ENOSYS"},
		{name: "request_key", attempt: "$A requestkey", inside: "EPERM", outside: "ENOKEY|ENOSYS"},
		{name: "keyctl", attempt: "$A keyctl", inside: "EPERM", outside: "ok|ENOSYS"},
		{name: "quotactl", attempt: "$A quotactl", inside: "EPERM", outside: "ok|ENOSYS"},
		{name: "acct", attempt: "$A acct", inside: "EPERM", outside: "ENOENT|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "swapon", attempt: "$A swapon", inside: "EPERM", outside: "ENOENT|ENOSYS", user: "EPERM|ENOSYS"},
		{name: "syslog", attempt: "$A syslog", inside: "EPERM", outside: "ok", user: "ok|EPERM"},
		{name: "reboot", attempt: "$A reboot", inside: "EPERM", outside: "EINVAL", user: "EPERM"},
		{name: "fanotify_init", attempt: "$A fanotify", inside: "EPERM", outside: "ok|ENOSYS", user: "ok|EPERM|ENOSYS"},
		{name: "clock_settime", attempt: "$A clocksettime", inside: "EPERM", outside: "EINVAL"},
		{name: "settimeofday", attempt: "$A settimeofday", inside: "EPERM", outside: "EINVAL"},
		{name: "adjtimex", attempt: "$A adjtimex", inside: "EPERM", outside: "ok"},
		{name: "sethostname", attempt: "$A sethostname", inside: "EPERM", outside: "ok"},
		{name: "set_mempolicy", attempt: "$A mempolicy", inside: "EPERM", outside: "ok|ENOSYS"},
		{name: "open_by_handle_at of nothing", attempt: "$A openhandle .", inside: "EPERM", outside: "ok|ESTALE|EINVAL|EOPNOTSUPP", user: "EPERM"},

		{name: "a filter of its own on top", attempt: "$A ownfilter", inside: "EPERM", outside: "ok"},
		{name: "a listener of its own on top", attempt: "$A ownlistener", inside: "EPERM", outside: "ok"},
	}
	if runtime.GOARCH != "amd64" {
		return rows
	}
	// 159 = 128 + SIGSYS. 139 is a kernel that has no 32-bit calls.
	return append(rows,
		row{name: "a call of the 32-bit table", attempt: "$A int80; echo $?", inside: "159", outside: "ok\n0|139"},
		row{name: "socketcall of the 32-bit table", attempt: "$A socketcall; echo $?", inside: "159", outside: "EFAULT\n0|139"},
		row{name: "a call of the x32 table", attempt: "$A x32; echo $?", inside: "159", outside: "ok\n0|ENOSYS\n0"})
}

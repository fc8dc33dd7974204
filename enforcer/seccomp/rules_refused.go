package seccomp

// refusal is a group of calls that are refused whatever their arguments, for one reason.
type refusal struct {
	calls    string // separated by spaces
	action   Action
	liftedBy Option
	reason   string
}

// refusals lists them by subject. A call that only one of the architectures has is refused there.
func refusals() []refusal {
	return []refusal{
		{"mount umount2 open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr", Refuse, NoOption,
			"a changed mount tree uncovers what a mount denies"},
		{"open_tree_attr", Absent, NoOption, "open_tree that also changes the mount"},
		{"pivot_root", Refuse, NoOption, "replaces the root that the denials hang on"},
		{"statmount listmount", Absent, NoOption,
			"show mounts and their sources outside; programs fall back to /proc/self/mountinfo"},
		{"chroot", Refuse, NestedNamespaces, "a second root: `..` past it leads out of the first"},
		{"setns", Refuse, NoOption, "joins a namespace by an inherited or /proc descriptor"},
		{"unshare", Refuse, NestedNamespaces,
			"a user namespace gives every capability inside it, and with them kernel code that trusts them"},
		{"listns", Absent, NoOption, "lists the namespaces of the machine"},
		{"clone3", Absent, NoOption,
			"takes its flags in a struct, which a filter cannot read; libc falls back to clone on ENOSYS alone"},

		{"ptrace process_vm_readv process_vm_writev", Refuse, Ptrace, "reads and writes another process"},
		{"process_madvise", Refuse, NoOption, "acts on another process's memory"},
		{"pidfd_getfd", Refuse, NoOption, "takes a descriptor out of another process"},
		{"kcmp", Refuse, NoOption, "compares kernel pointers of two processes"},

		{"bpf", Refuse, NoOption, "loads programs into the kernel"},
		{"perf_event_open", Refuse, NoOption, "samples the kernel and other processes; a large attack surface"},
		{"userfaultfd", Refuse, NoOption, "stops the kernel inside a copy from user memory: widens its races"},
		{"io_uring_setup io_uring_enter io_uring_register", Absent, NoOption,
			"opens, connects and makes sockets without a system call that a filter sees; runtimes fall back on ENOSYS"},
		{"add_key request_key keyctl", Refuse, NoOption, "keyrings are shared across namespaces"},

		{"kexec_load kexec_file_load", Refuse, NoOption, "starts another kernel"},
		{"init_module finit_module delete_module create_module query_module get_kernel_syms", Refuse, NoOption,
			"kernel modules"},
		{"open_by_handle_at", Refuse, NoOption, "opens a file by number, past every path rule"},
		{"name_to_handle_at", Refuse, NoOption, "gives the numbers that open_by_handle_at takes, and mount numbers"},
		{"fanotify_init fanotify_mark", Refuse, NoOption, "watches, and holds up, other programs' file accesses"},
		{"quotactl quotactl_fd", Refuse, NoOption, "file system administration"},
		{"acct", Refuse, NoOption, "process accounting into a file of the caller's choice"},
		{"swapon swapoff", Refuse, NoOption, "memory administration"},
		{"reboot", Refuse, NoOption, "stops the machine or the namespace's PID 1"},
		{"settimeofday clock_settime clock_adjtime adjtimex", Refuse, NoOption,
			"the clock is the host's; a filter cannot tell adjtimex's reading from its setting"},
		{"syslog", Refuse, NoOption, "the kernel's log shows addresses and other users' programs"},
		{"lookup_dcookie", Refuse, NoOption, "paths of other programs, for profilers"},
		{"sethostname setdomainname", Refuse, NoOption, "system administration"},
		{"iopl ioperm", Refuse, NoOption, "hardware ports"},
		{"vhangup", Refuse, NoOption, "hangs up the terminal for others"},
		{"mbind get_mempolicy set_mempolicy set_mempolicy_home_node migrate_pages move_pages", Refuse, NoOption,
			"memory placement; Docker's list has it with CAP_SYS_NICE alone"},
		{"lsm_get_self_attr lsm_set_self_attr lsm_list_modules", Absent, NoOption,
			"security modules' attributes; Docker's list has them with CAP_SYS_ADMIN alone"},
		{"uselib ustat sysfs _sysctl nfsservctl getpmsg putpmsg afs_syscall tuxcall security vserver", Refuse, NoOption,
			"obsolete, or never there"},
	}
}

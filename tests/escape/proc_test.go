package escape

// procRows open files of /proc and /sys. They only open: what would be written acts on the machine.
func procRows() []row {
	var rows []row
	for _, f := range []struct{ file, mode, inside, outside, user string }{
		{"/proc/sys/kernel/core_pattern", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/proc/sys/kernel/hostname", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/proc/sys/vm/drop_caches", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/proc/sys/fs/file-max", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/proc/sysrq-trigger", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/proc/kcore", "r", "EACCES", "ok", "EACCES"},
		{"/proc/kmsg", "r", "EPERM|EACCES", "ok|EBUSY", "EACCES"},
		{"/proc/timer_list", "r", "EACCES", "ok", "EACCES"},
		{"/proc/keys", "r", "EACCES", "ok", ""},
		{"/proc/kpagecount", "r", "EACCES", "ok", "EACCES"},
		{"/proc/self/mem", "rw", "ok", "", ""},
		{"/proc/self/environ", "r", "ok", "", ""},
		{"/proc/self/comm", "w", "ok", "", ""},
		{"/sys/kernel/mm/ksm/run", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/sys/kernel/mm/transparent_hugepage/enabled", "w", "EROFS|EACCES", "ok", "EACCES"},
		{"/sys/fs/cgroup/cgroup.procs", "w", "EROFS|EACCES", "ok", "EACCES"},
	} {
		rows = append(rows, row{name: "open " + f.file + " " + f.mode, attempt: "$A open " + f.file + " " + f.mode,
			inside: f.inside, outside: f.outside, user: f.user, same: f.outside == "", lacks: "ENOENT"})
	}
	// PID 1 has the uid of the command, and is hidden (hidepid) or closed to it; root sees it, for hidepid lets its group in.
	for _, f := range []string{"environ", "mem", "maps", "exe", "fd/0", "fdinfo/0", "cwd/free", "root/etc", "ns/mnt", "auxv"} {
		rows = append(rows, row{name: "open /proc/1/" + f, attempt: "$A open /proc/$INIT/" + f + " r", inside: "ENOENT|EACCES", outside: "ok"})
	}
	for _, f := range []string{"environ", "mem", "maps", "exe", "fd/0", "cwd/free", "root/etc", "ns/mnt"} {
		rows = append(rows, row{name: "open /proc/PID/" + f, attempt: "$A open /proc/$PID/" + f + " r", inside: "ENOENT", outside: "ok"})
	}
	// An ordinary user gets no further than the permissions of the host's debugfs, which is empty where it is not mounted.
	return append(rows, row{name: "open /sys/kernel/debug", attempt: "$A open /sys/kernel/debug directory", inside: "EACCES", outside: "ok", lacks: "ENOENT", onlyFor: "root"})
}

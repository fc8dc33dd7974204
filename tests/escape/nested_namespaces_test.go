package escape

import "testing"

// With namespaces of its own a command has every capability in them. What denies is not theirs to change.
func TestWaysOutThroughNestedNamespaces(t *testing.T) {
	rows := []row{
		{name: "read above the root", attempt: "$A read /..$HOME/.ssh/id_rsa", inside: "open: EACCES|open: ENOENT", outside: "SECRET"},
		{name: "write above the root", attempt: "$A open /..$PWD/.git/hooks/pre-commit append", inside: "EACCES|ENOENT|EROFS", outside: "ok"},
		{name: "processes above the root", attempt: "[ -e /../proc/$PID/comm ] && echo seen", inside: "", outside: "seen"},
		{name: "climb past a second root", attempt: "$A climb dir .$HOME/.ssh/id_rsa", inside: "open: EACCES|open: ENOENT", outside: "SECRET"},
		{name: "a user namespace", attempt: "$A unshare 0x10000000", inside: "ok", same: true},
		{name: "a second root", attempt: "$A chroot dir", inside: "ok", same: true},
		{name: "read by name", attempt: "$A read secret/f", inside: "open: EACCES", outside: "SECRET"},
		{name: "bind over a denied directory", attempt: "$A bindmount dir secret", inside: "EPERM", outside: "ok"},
		{name: "unmount a denial", attempt: "$A umount secret", inside: "EPERM", outside: "EINVAL"},
		{name: "open_tree", attempt: "$A opentree .", inside: "EPERM", outside: "ok"},
		{name: "fsopen", attempt: "$A fsopen", inside: "EPERM", outside: "ok"},
		{name: "move_mount", attempt: "$A movemount dir", inside: "EPERM", outside: "EBADF"},
		{name: "mount_setattr", attempt: "$A mountsetattr", inside: "EPERM", outside: "EBADF"},
		{name: "pivot_root", attempt: "$A pivotroot dir", inside: "EPERM", outside: "EINVAL"},
		{name: "setns", attempt: "$A setnsnone", inside: "EPERM", outside: "EBADF"},
		{name: "clone3 user", attempt: "$A clone3 0x10000000", inside: "ENOSYS", outside: "ok"},
		{name: "trace PID 1", attempt: "$A ptrace $INIT", inside: "EPERM", outside: "ok"},
		{name: "key rings", attempt: "$A addkey", inside: "EPERM", outside: "ok|ENOSYS"},
	}
	for i := range rows {
		rows[i].more = map[string]any{"sandboxctl": map[string]any{"allowNestedNamespaces": true}}
	}
	canFail(t, rows)
	try(t, rows)
}

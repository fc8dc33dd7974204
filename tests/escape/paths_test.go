package escape

import (
	"os"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// pathRows are names, links and ways to write. EROFS comes from read-only mounts, EACCES from masks, EXDEV and EBUSY from
// entries being mount points.
func pathRows() []row {
	return []row{
		{name: "read by name", attempt: "$A read ~/.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read by a way back", attempt: "$A read ../.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read by double slashes", attempt: "$A read ~//.ssh//id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read by dots", attempt: "$A read ./dir/../../.ssh/./id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read below the project", attempt: "$A read secret/f", inside: "open: EACCES", outside: "SECRET"},
		{name: "list", attempt: "$A open ~/.ssh directory", inside: "EACCES", outside: "ok"},
		{name: "enter", attempt: "cd ~/.ssh && $A read id_rsa", inside: "", outside: "SECRET"},
		{name: "hold without reading", attempt: "$A open secret/f path", inside: "EACCES", outside: "ok"},
		{name: "read through /proc/self/root", attempt: "$A read /proc/self/root$HOME/.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through /proc/self/cwd", attempt: "$A read /proc/self/cwd/../.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through a thread's root", attempt: "$A read /proc/thread-self/root$HOME/.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through PID 1's root", attempt: "$A read /proc/$INIT/root$HOME/.ssh/id_rsa", inside: "open: ENOENT|open: EACCES", outside: "SECRET"},
		// `..` of the root leads to whatever is mounted on top of the root (path_resolution(7), fs/namei.c).
		{name: "read above the root", attempt: "$A read /..$HOME/.ssh/id_rsa", inside: "open: EACCES|open: ENOENT", outside: "SECRET"},
		{name: "write above the root", attempt: "$A open /..$PWD/.git/hooks/pre-commit append", inside: "EACCES|ENOENT|EROFS", outside: "ok"},
		{name: "climb past a second root", attempt: "$A climb dir .$HOME/.ssh/id_rsa", inside: "chroot: EPERM", outside: "SECRET"},
		{name: "read through an outer root", attempt: "$A read /proc/$PID/root$HOME/.ssh/id_rsa", inside: "open: ENOENT", outside: "SECRET"},
		{name: "read through an outer directory", attempt: "$A read /proc/$PID/cwd/secret/f", inside: "open: ENOENT", outside: "SECRET"},

		{name: "read through a new link", attempt: "ln -s ~/.ssh l; $A read l/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through a relative link", attempt: "ln -s ../../.ssh dir/l; $A read dir/l/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through links in a row", attempt: "ln -s ~/.ssh a; ln -s a b; ln -s b/id_rsa c; $A read c", inside: "open: EACCES", outside: "SECRET"},
		{name: "read through a link into /proc", attempt: "ln -s /proc/self/root l; $A read l$HOME/.ssh/id_rsa", inside: "open: EACCES", outside: "SECRET"},
		{name: "write through a link outside", attempt: "ln -s ~/outside l; $A open l append", inside: "EROFS", outside: "ok"},
		{name: "write through a link inside", attempt: "ln -s locked l; $A open l/f append", inside: "EROFS", outside: "ok"},
		{name: "create through a dangling link", attempt: "ln -s ~/new l; $A open l create", inside: "EROFS", outside: "ok"},

		{name: "hard link to a denied file", attempt: "$A link ~/.ssh/id_rsa x", inside: "EACCES|EXDEV", outside: "ok"},
		{name: "hard link to a file outside", attempt: "$A link ~/outside x", inside: "EXDEV", outside: "ok"},
		{name: "hard link to a closed file", attempt: "$A link locked/f x", inside: "EXDEV", outside: "ok"},
		{name: "hard link to a hook", attempt: "$A link .git/hooks/pre-commit x", inside: "EXDEV", outside: "ok"},
		{name: "hard link by an empty name", attempt: "$A linkempty locked/f x", inside: "EXDEV|ENOENT", outside: "ok", user: "ok|ENOENT"},
		{name: "hard link by a descriptor", attempt: "$A linkproc locked/f x", inside: "EXDEV", outside: "ok"},

		{name: "move a denied directory", attempt: "$A rename secret s2", inside: "EBUSY", outside: "ok"},
		{name: "move a denied file", attempt: "$A rename secret/f x", inside: "EACCES", outside: "ok"},
		{name: "move a directory above a denied one", attempt: "$A rename n n2", inside: "EBUSY", outside: "ok"},
		{name: "move a closed directory", attempt: "$A rename locked l2", inside: "EBUSY", outside: "ok"},
		{name: "move a closed file", attempt: "$A rename locked/f x", inside: "EXDEV|EROFS", outside: "ok"},
		{name: "move onto a closed file", attempt: "$A rename free locked/f", inside: "EXDEV|EROFS", outside: "ok"},
		{name: "move the repository", attempt: "$A rename .git g2", inside: "EBUSY", outside: "ok"},
		{name: "move the repository and make hooks", attempt: "mv .git g2; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; cat .git/hooks/pre-commit", inside: "before", outside: "evil"},
		{name: "move the hooks", attempt: "$A rename .git/hooks .git/h2", inside: "EBUSY", outside: "ok"},
		{name: "exchange with a denied directory", attempt: "$A exchange dir secret", inside: "EBUSY", outside: "ok"},
		{name: "exchange with the repository", attempt: "$A exchange dir .git", inside: "EBUSY", outside: "ok"},
		{name: "exchange with a directory above", attempt: "$A exchange n/deep dir", inside: "EBUSY|EXDEV", outside: "ok"},
		{name: "white out a denied directory", attempt: "$A whiteout secret x", inside: "EBUSY|EPERM", outside: "ok|EINVAL", user: "EPERM|ok|EINVAL"},
		{name: "remove a hook", attempt: "$A unlink .git/hooks/pre-commit", inside: "EROFS", outside: "ok"},
		{name: "remove a protected directory", attempt: "$A rmdir .vscode", inside: "EBUSY", outside: "ok"},

		{name: "write a hook", attempt: "$A open .git/hooks/pre-commit append", inside: "EROFS", outside: "ok"},
		{name: "create a hook", attempt: "$A open .git/hooks/post-commit create", inside: "EROFS", outside: "ok"},
		{name: "fill a protected directory", attempt: "$A open .vscode/tasks.json create", inside: "EROFS", outside: "ok"},
		{name: "fill a protected directory below", attempt: "$A open sub/.vscode/tasks.json create", inside: "EROFS", outside: "ok"},
		{name: "write outside", attempt: "$A open ~/outside append", inside: "EROFS", outside: "ok"},
		{name: "create outside", attempt: "$A open ~/new create", inside: "EROFS", outside: "ok"},
		{name: "create outside without a name", attempt: "$A open ~ temporary", inside: "EROFS", outside: "ok|EOPNOTSUPP"},
		{name: "create in a denied directory", attempt: "$A open secret/x create", inside: "EACCES", outside: "ok"},
		{name: "make a directory outside", attempt: "$A mkdir ~/new", inside: "EROFS", outside: "ok"},
		{name: "link outside", attempt: "$A symlink x ~/new", inside: "EROFS", outside: "ok"},
		{name: "remove outside", attempt: "$A rmdir ~/dir", inside: "EROFS", outside: "ok"},
		{name: "truncate by name", attempt: "$A truncate ~/outside", inside: "EROFS", outside: "ok"},
		{name: "truncate a closed file", attempt: "$A truncate locked/f", inside: "EROFS", outside: "ok"},
		{name: "truncate while opening", attempt: "$A open locked/f truncate", inside: "EROFS", outside: "ok"},
		{name: "allocate", attempt: "$A fallocate ~/outside", inside: "open: EROFS", outside: "ok|EOPNOTSUPP"},
		{name: "change the mode outside", attempt: "$A chmod ~/outside 0600", inside: "EROFS", outside: "ok"},
		{name: "change the mode of a denied file", attempt: "$A chmod secret 0777", inside: "EROFS", outside: "ok"},
		{name: "write through a mapping", attempt: "$A mmapwrite ~/outside rw", inside: "open: EROFS", outside: "ok"},
		{name: "write through a mapping of a file opened for reading", attempt: "$A mmapwrite free r", inside: "EACCES", same: true},
		{name: "make a mapping writable", attempt: "$A mprotectwrite locked/f", inside: "EACCES", same: true},
		{name: "a mapping of a file of its own", attempt: "$A mmapwrite free rw", inside: "ok", same: true},

		{name: "clone a denied file", attempt: "$A ficlone secret/f x", inside: "open source: EACCES", outside: "ok|EOPNOTSUPP|EXDEV|EINVAL"},
		{name: "copy a denied file in the kernel", attempt: "$A copyrange secret/f x", inside: "open source: EACCES", outside: "ok"},
		{name: "send a denied file", attempt: "$A sendfile secret/f x", inside: "open source: EACCES", outside: "ok"},
		{name: "splice a denied file", attempt: "$A splice secret/f x", inside: "open source: EACCES", outside: "ok"},
		{name: "copy into a closed file in the kernel", attempt: "$A copyrange free locked/f", inside: "open target: EROFS", outside: "ok"},

		{name: "openat2", attempt: "$A openat2 secret/f 0", inside: "EACCES", outside: "ok"},
		{name: "openat2 without crossing mounts", attempt: "$A openat2 secret/f 1", inside: "EXDEV|EACCES", outside: "ok"},
		{name: "openat2 beneath", attempt: "$A openat2 secret/f 8", inside: "EACCES", outside: "ok"},
		{name: "openat2 in a root", attempt: "$A openat2 /secret/f 0x10", inside: "EACCES", outside: "ok"},
		{name: "handle of a file", attempt: "$A handle locked/f", inside: "EPERM", outside: "ok"},
		{name: "open by handle", attempt: "$A openhandle /", inside: "EPERM", outside: "ok|ESTALE|EINVAL|EOPNOTSUPP", user: "EPERM"},

		{name: "make a character device", attempt: "$A mknod x c 1 3", inside: "EACCES", outside: "ok", user: "EPERM"},
		{name: "make a block device", attempt: "$A mknod x b 7 0", inside: "EACCES", outside: "ok", user: "EPERM"},
		{name: "make a pipe", attempt: "$A mknod x p; rm x", inside: "ok", same: true},
		{name: "open a device that was there", attempt: "$A open node r", inside: "EACCES", outside: "ok", onlyFor: "root",
			before: func(t *testing.T, w *testkit.World) {
				if r := w.Outside(testkit.Attempts(t) + " mknod node c 1 3"); r.Stdout != "ok\n" {
					t.Fatal(r.Stdout)
				}
			}},
		{name: "devices", attempt: "ls /dev | xargs", outside: anything,
			inside: "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero"},
		{name: "make a device file in /dev", attempt: "$A mknod /dev/sandboxctl-attempt p", inside: "EROFS|EACCES", outside: "ok", user: "EACCES",
			before: func(t *testing.T, _ *testkit.World) {
				t.Cleanup(func() { _ = os.Remove("/dev/sandboxctl-attempt") })
			}},

		{name: "fill /tmp", attempt: "$A fill /tmp/sandboxctl-attempt 8192; rm -f /tmp/sandboxctl-attempt", inside: "4096 ENOSPC", outside: "8192 no end",
			more: map[string]any{"sandboxctl": map[string]any{"limits": map[string]any{"tmpBytes": 4 << 20}}}},
		{name: "size of /tmp by default", attempt: "df -k --output=size,itotal /tmp | tail -1 | xargs", inside: "2097152 1048576", outside: anything},
		{name: "size of /dev/shm", attempt: "df -k --output=size,itotal /dev/shm | tail -1 | xargs", inside: "524288 1048576", outside: anything},
		{name: "files of /tmp", attempt: "ls /tmp | grep -c .", inside: "0", outside: anything,
			before: func(t *testing.T, _ *testkit.World) { t.TempDir() }},
	}
}

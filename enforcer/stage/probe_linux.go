package stage

import (
	"encoding/json"
	"os"
	"runtime"

	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"golang.org/x/sys/unix"
)

// ProbeArgv0 is the name under which the program re-executes itself to try the features of tier full one by one.
const ProbeArgv0 = "sandboxctl-probe"

// Attempt is one feature that was tried inside new namespaces.
type Attempt struct {
	Name string   `json:"name"`
	Fail *Failure `json:"fail,omitempty"` // nil = it works
}

// ProbeMain tries each feature in the namespaces that it was started in, writes the Attempts to standard output as JSON,
// and exits. Nothing outside these namespaces is touched.
func ProbeMain() {
	runtime.LockOSThread()
	var out []Attempt
	for _, step := range []struct {
		name string
		try  func() error
	}{
		{"private mounts", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"mount API", tryMountAPI},
		{"whole tree", tryTree},
		{"loopback", loopbackUp},
	} {
		a := Attempt{Name: step.name}
		if err := step.try(); err != nil {
			a.Fail = asFailure(err)
		}
		out = append(out, a)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func tryMountAPI() error {
	fd, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fail(LayerMounts, "open_tree", "/", err)
	}
	defer unix.Close(fd)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return fail(LayerMounts, "mount_setattr", "/", err)
	}
	return nil
}

// tryTree builds the smallest tree that a launch builds: a read-only clone, /tmp, /proc and /dev.
func tryTree() error {
	_, err := mount.Plan{Ops: []mount.Op{
		{Kind: mount.Root, Target: "/", Dir: true, Cause: "probe"},
		{Kind: mount.Tmpfs, Target: "/tmp", Dir: true, Cause: "probe"},
		{Kind: mount.Proc, Target: "/proc", Dir: true, Cause: "probe"},
		{Kind: mount.Dev, Target: "/dev", Dir: true, Size: 1 << 20, Cause: "probe"},
	}}.Apply()
	return err
}

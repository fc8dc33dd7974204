package enforcer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// idMaps returns the maps of the sandbox's user namespace: each id that the caller may map is itself inside. That is the
// caller's own uid and gid, or with CAP_SETUID and CAP_SETGID the whole range of the caller's namespace, so that the
// owners of files look right to root.
func idMaps() (uids, gids []syscall.SysProcIDMap, err error) {
	if !mayMapRange() {
		uid, gid := os.Geteuid(), os.Getegid()
		return []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			[]syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}, nil
	}
	if uids, err = rangesOf("/proc/self/uid_map"); err != nil {
		return nil, nil, err
	}
	gids, err = rangesOf("/proc/self/gid_map")
	return uids, gids, err
}

func mayMapRange() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	return data[0].Effective&need == need
}

// rangesOf reads a map of the caller's own namespace and maps each of its ranges to itself.
func rangesOf(file string) ([]syscall.SysProcIDMap, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("id map: %w", err)
	}
	fields := strings.Fields(string(text)) // inside, outside and length of each range (user_namespaces(7))
	var out []syscall.SysProcIDMap
	for ; len(fields) >= 3; fields = fields[3:] {
		inside, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("id map %s: %w", file, err)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("id map %s: %w", file, err)
		}
		out = append(out, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return out, nil
}

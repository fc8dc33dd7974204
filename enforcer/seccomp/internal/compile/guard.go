//go:build seccomp

package compile

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/assemble"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// unknownGuard makes what stands before the allow-list: a number that libseccomp has no name for gets ENOSYS, where
// the list's own answer to what it does not name is EPERM. C libraries take EPERM from a new call as final and ENOSYS
// as a reason to use the old one; runc puts such a guard in front of its filters for the same reason. Known numbers,
// and foreign architectures, fall through to the list.
func unknownGuard(arch string, numbers map[string]int) ([]byte, error) {
	var b assemble.Builder
	unknown := b.Return(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	known := map[uint32]bool{}
	for _, nr := range numbers {
		if nr != syscalls.None {
			known[uint32(nr)] = true
		}
	}
	ranges := []assemble.Range{{First: 0, To: unknown}}
	if known[0] {
		ranges[0].To = assemble.End
	}
	last := uint32(slices.Max(slices.Collect(maps.Keys(known))))
	for nr := uint32(1); nr <= last+1; nr++ {
		to := unknown
		if known[nr] {
			to = assemble.End
		}
		ranges = append(ranges, assemble.Range{First: nr, To: to})
	}
	search, err := b.Search(ranges)
	if err != nil {
		return nil, err
	}
	if _, err := b.Entry(arch, search, assemble.End); err != nil {
		return nil, err
	}
	program, err := b.Program()
	if err != nil {
		return nil, err
	}
	return encode(program), nil
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// Command bench measures what a sandbox costs and prints a table: medians of runs that take turns, and their ratio. It is no
// test: nothing fails when a figure is high. It says on what machine the figures were taken.
//
//	make bench
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	bin := flag.String("sandboxctl", "bin/sandboxctl", "the program to measure")
	rounds := flag.Int("rounds", 101, "runs of each short command")
	flag.Parse()
	path, err := filepath.Abs(*bin)
	if err == nil {
		err = run(path, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin string, rounds int) error {
	work, err := os.MkdirTemp("/var/tmp", "sandboxctl-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := bench{bin: bin, work: work, rounds: rounds}
	b.machine()
	for _, part := range []func() error{b.start, b.globs, b.inside} {
		if err := part(); err != nil {
			return err
		}
	}
	return b.evaluator()
}

type bench struct {
	bin, work string
	rounds    int
}

func (b *bench) machine() {
	var u unix.Utsname
	_ = unix.Uname(&u) // the table is the same without it
	fmt.Printf("%s, Linux %s, %d processors, %s, uid %d\n\n", time.Now().Format(time.DateOnly), unix.ByteSliceToString(u.Release[:]),
		runtime.NumCPU(), runtime.Version(), os.Getuid())
	fmt.Printf("%-34s %12s %12s %8s  %s\n", "WHAT", "HERE", "BASE", "RATIO", "BASE IS")
}

// command is one side of a comparison.
type command struct {
	argv []string
	dir  string
	env  []string
}

func (c command) once() (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%q: %w\n%s", c.argv, err, out)
	}
	return time.Since(begin), nil
}

// compare lets two commands take turns and prints the medians and their ratio.
func (b *bench) compare(name string, rounds int, here, base command, baseName string) error {
	var a, z []time.Duration
	for i := range rounds + 3 {
		d, err := here.once()
		if err != nil {
			return err
		}
		e, err := base.once()
		if err != nil {
			return err
		}
		if i >= 3 { // after a warm-up
			a, z = append(a, d), append(z, e)
		}
	}
	b.row(name, median(a), median(z), baseName)
	return nil
}

func (b *bench) row(name string, here, base time.Duration, baseName string) {
	fmt.Printf("%-34s %12s %12s %8.2f  %s\n", name, here.Round(10*time.Microsecond), base.Round(10*time.Microsecond), float64(here)/float64(base), baseName)
}

func median[T cmp.Ordered](s []T) T {
	s = slices.Sorted(slices.Values(s))
	return s[len(s)/2]
}

const writable = `{"filesystem": {"allowWrite": ["."]}}`

// start compares a launch with bubblewrap's, with the same namespaces, /proc, /dev and one writable tree.
func (b *bench) start() error {
	project := filepath.Join(b.work, "p")
	settings := filepath.Join(b.work, "s.json")
	if err := os.Mkdir(project, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(settings, []byte(writable), 0o644); err != nil {
		return err
	}
	here := command{argv: []string{b.bin, "run", "-s", settings, "--", "/bin/true"}, dir: project}
	bwrap := command{dir: project, argv: []string{"bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup", "--die-with-parent", "--ro-bind", "/", "/", "--bind", project, project, "--proc", "/proc", "--dev", "/dev",
		"--tmpfs", "/tmp", "/bin/true"}}
	if err := b.compare("run -- true", b.rounds, here, bwrap, "bwrap, same namespaces"); err != nil {
		return err
	}
	return b.compare("run -- true", b.rounds, here, command{argv: []string{"/bin/true"}, dir: project}, "true alone")
}

// globs measures a start with 40 patterns over 300,000 files against one without patterns, and counts getdents64 calls.
func (b *bench) globs() error {
	project := filepath.Join(b.work, "big")
	const dirs, files = 3000, 100
	fmt.Fprintf(os.Stderr, "making %d files …\n", dirs*files)
	for d := range dirs {
		dir := filepath.Join(project, fmt.Sprintf("m%d", d%60), fmt.Sprintf("pkg%d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.js", f)), nil, 0o644); err != nil {
				return err
			}
		}
	}
	var patterns []string
	for i := range 40 {
		patterns = append(patterns, fmt.Sprintf(`"**/secret%d*.pem"`, i))
	}
	plain, globs := filepath.Join(b.work, "plain.json"), filepath.Join(b.work, "globs.json")
	if err := os.WriteFile(plain, []byte(writable), 0o644); err != nil {
		return err
	}
	text := `{"filesystem": {"allowWrite": ["."], "denyRead": [` + strings.Join(patterns, ", ") + `]}}`
	if err := os.WriteFile(globs, []byte(text), 0o644); err != nil {
		return err
	}
	with := command{argv: []string{b.bin, "run", "-s", globs, "--", "/bin/true"}, dir: project}
	without := command{argv: []string{b.bin, "run", "-s", plain, "--", "/bin/true"}, dir: project}
	if err := b.compare("300,000 files, 40 patterns", 7, with, without, "no pattern"); err != nil {
		return err
	}
	calls, err := b.countReads(with)
	if err != nil {
		return err
	}
	fmt.Printf("%-34s %12d %12d %8.2f  %s\n", "getdents64 calls of that start", calls, dirs+60+1, float64(calls)/(dirs+61), "directories; two calls read one")
	return nil
}

func (b *bench) countReads(c command) (int, error) {
	log := filepath.Join(b.work, "strace")
	c.argv = append([]string{"strace", "-f", "-qq", "-e", "trace=getdents64", "-o", log}, c.argv...)
	if _, err := c.once(); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(log)
	return strings.Count(string(text), "getdents64("), err
}

// inside compares real work in the sandbox with the same work outside. The start of the sandbox is part of it.
func (b *bench) inside() error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	project := filepath.Join(b.work, "repo")
	if _, err := (command{argv: []string{"git", "clone", "-q", "file://" + repo, project}}).once(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	sources := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	cache := filepath.Join(project, ".cache")
	settings := filepath.Join(b.work, "inside.json")
	if err := os.WriteFile(settings, []byte(writable), 0o644); err != nil {
		return err
	}
	env := []string{"GOCACHE=" + cache, "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0"}
	for _, job := range []struct {
		name   string
		rounds int
		argv   []string
	}{
		{"git status, 100 times", 9, []string{"sh", "-c", "i=0; while [ $i -lt 100 ]; do git status --porcelain; i=$((i+1)); done"}},
		{"rg over the Go sources, 10 times", 9, []string{"sh", "-c", "i=0; while [ $i -lt 10 ]; do rg -c --no-ignore 'func .*Context' " + sources + " >/dev/null; i=$((i+1)); done"}},
		{"go build, after a change", 7, []string{"sh", "-c", "echo '// x' >> evaluator/doc.go; go build ./evaluator ./srtconfig"}},
	} {
		args := []string{b.bin, "run", "-q", "-s", settings, "--env-all", "--"}
		here := command{argv: append(args, job.argv...), dir: project, env: env}
		if err := b.compare(job.name, job.rounds, here, command{argv: job.argv, dir: project, env: env}, "outside; one start of the sandbox is part of it"); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) evaluator() error {
	fmt.Println()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchmem", "./evaluator")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

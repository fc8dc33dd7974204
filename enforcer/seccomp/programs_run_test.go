package seccomp

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Real programs do real work under the strictest filter: children with pipes, threads, sockets on loopback.
func TestProgramsRunUnderTheFilter(t *testing.T) {
	requireFilters(t)
	const python = `
import os, socket, subprocess, threading, multiprocessing, asyncio, tempfile, ctypes
assert subprocess.run(["sh", "-c", "cat; exit 3"], input=b"hi", capture_output=True).returncode == 3
found = []
ts = [threading.Thread(target=found.append, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
assert sorted(found) == list(range(8))
with multiprocessing.get_context("fork").Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); c.send(b"y"); assert s.accept()[0].recv(1) == b"y"
asyncio.run(asyncio.sleep(0))
for family in (socket.AF_UNIX, socket.AF_PACKET):
    try: socket.socket(family, socket.SOCK_STREAM); raise SystemExit("a socket of family %d" % family)
    except PermissionError: pass
with tempfile.TemporaryDirectory() as d: os.symlink("x", d + "/l")
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 1, 0) == -1 and ctypes.get_errno() == 38, "io_uring_setup"
print("done")`
	const node = `
const {execFileSync, spawn} = require("child_process"), fs = require("fs"), net = require("net"), os = require("os");
const {Worker} = require("worker_threads");
if (execFileSync("sh", ["-c", "echo hi"]).toString() !== "hi\n") throw "child";
os.networkInterfaces();
const server = net.createServer(c => c.end("y")).listen(0, "127.0.0.1", () => {
  net.connect(server.address().port, "127.0.0.1").on("data", d => {
    server.close();
    new Worker("require('worker_threads').parentPort.postMessage(1)", {eval: true}).on("message", () => {
      fs.promises.readFile("/proc/self/status", "utf8").then(s => {
        if (!/Seccomp:\s*2/.test(s)) throw "no filter";
        spawn("cat", {stdio: ["pipe", "pipe", "inherit"]}).on("close", () => console.log("done")).stdin.end();
      });
    });
  });
});`
	const git = `set -e; cd "$(mktemp -d)"; trap 'rm -rf "$PWD"' EXIT
export HOME=$PWD GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q r; cd r; seq 1000 >f; git add f; git commit -qm one; git gc -q; git -c protocol.file.allow=always clone -q . ../c
cd ../c; git log --oneline | grep -q one; git grep -q 500; git status --porcelain; echo done; cd ..`
	tools := map[string][]string{
		"python": {"python3", "-c", python},
		"node":   {"node", "-e", node},
		"git":    {"sh", "-c", git},
		"shell":  {"sh", "-c", "(sleep 0 & wait; echo done) | cat; uname -m >/dev/null; test -r /dev/null"},
	}
	if argv, ok := tools[role()]; ok {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			t.Fatal(err)
		}
		confine(t, Options{})
		become(t, "", path, argv...)
	}
	for name, argv := range tools {
		t.Run(name, func(t *testing.T) {
			needs := argv[0]
			if name == "git" {
				needs = "git"
			}
			if _, err := exec.LookPath(needs); err != nil {
				err = errors.Join(err, errors.ErrUnsupported)
				if strings.Contains(os.Getenv("SANDBOXCTL_TEST_REQUIRE"), name) {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestProgramsRunUnderTheFilter$", "-test.count=1")
			cmd.Env = append(os.Environ(), roleVariable+"="+name)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

package evaluator

import (
	"fmt"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// thousandEntries are those of a home with 250 projects, four each.
func thousandEntries() input {
	in := input{cwd: "/home/user/src/project042", privateTmp: true}
	add := func(list srtconfig.List, path string) {
		in.paths = append(in.paths, srtconfig.PathRule{List: list, Path: path, Exists: true, Dir: true})
	}
	for i := range 250 {
		project := fmt.Sprintf("/home/user/src/project%03d", i)
		add(srtconfig.DenyRead, project+"/secrets")
		add(srtconfig.AllowRead, project+"/secrets/public/keys")
		add(srtconfig.AllowWrite, project)
		add(srtconfig.Protected, project+"/.git/hooks")
	}
	return in
}

// thousandRules gives an evaluator of them, and five paths of which each decision takes another way.
func thousandRules(tb testing.TB) (*Evaluator, []string) {
	tb.Helper()
	e, err := newEvaluator(thousandEntries())
	if err != nil {
		tb.Fatal(err)
	}
	return e, []string{
		"/home/user/src/project042/internal/server/handlers/http/router.go",
		"/home/user/src/project199/secrets/public/keys/deploy.pub",
		"/home/user/src/project007/secrets/private/keys/deploy",
		"/home/user/src/project123/.git/hooks/pre-commit",
		"/usr/lib/x86_64-linux-gnu/perl/5.36.0/auto/File/Glob/Glob.so",
	}
}

func TestDecisionsAllocateNothing(t *testing.T) {
	e, paths := thousandRules(t)
	rules := make([]srtconfig.DomainRule, 1000)
	for i := range rules {
		rules[i] = domainRule(t, fmt.Sprintf("*.host%d.test", i), srtconfig.ForAllow)
	}
	e.network = compileNetwork(srtconfig.NetworkRules{AllowedDomains: rules, DeniedDomains: rules[500:600]})
	paths = append(paths, "relative", "/a/../b", "/tmp/x", "/")
	n := testing.AllocsPerRun(100, func() {
		for _, path := range paths {
			e.CanRead(path)
			e.CanWrite(path)
			e.CanRemove(path)
		}
		e.CanConnect("a.b.host7.test", 443)
		e.CanConnect("a.b.host507.test", 443)
		e.CanConnect("elsewhere.test", 443)
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkDecision(b *testing.B) {
	e, paths := thousandRules(b)
	for _, op := range []struct {
		name string
		ask  func(string) Decision
	}{{"read", e.CanRead}, {"write", e.CanWrite}, {"remove", e.CanRemove}} {
		b.Run(op.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				op.ask(paths[i%len(paths)])
			}
		})
	}
}

func BenchmarkConnect(b *testing.B) {
	rules := make([]srtconfig.DomainRule, 1000)
	for i := range rules {
		rules[i] = domainRule(b, fmt.Sprintf("*.host%d.test", i), srtconfig.ForAllow)
	}
	e := &Evaluator{network: compileNetwork(srtconfig.NetworkRules{AllowedDomains: rules})}
	b.ReportAllocs()
	for b.Loop() {
		e.CanConnect("a.b.host777.test", 443)
	}
}

func BenchmarkNew(b *testing.B) {
	in := thousandEntries()
	for b.Loop() {
		if _, err := newEvaluator(in); err != nil {
			b.Fatal(err)
		}
	}
}

package differential

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

const (
	// countVariable raises the number of decisions.
	countVariable = "SANDBOXCTL_DIFFERENTIAL"
	// caseVariable repeats one case: SEED:NUMBER.
	caseVariable = "SANDBOXCTL_DIFFERENTIAL_CASE"

	defaultDecisions   = 20_000
	questionsPerCase   = 110
	maxReportedPerKind = 1
	maxReportedKinds   = 8
)

// TestEvaluatorEqualsKernel runs random cases until enough decisions were compared.
func TestEvaluatorEqualsKernel(t *testing.T) {
	testkit.NeedFull(t)
	r := rig{prober: proberBinary(t), facts: enforcer.FactsOf()}
	if only := os.Getenv(caseVariable); only != "" {
		var seed, n uint64
		if _, err := fmt.Sscanf(only, "%d:%d", &seed, &n); err != nil {
			t.Fatalf("%s=%s: want SEED:NUMBER", caseVariable, only)
		}
		c := campaign{t: t, rig: r, seed: seed, want: 1, kinds: map[string]int{}, known: map[string]int{}}
		c.runOne(t.Context(), n)
		c.report()
		return
	}
	want := defaultDecisions
	if text := os.Getenv(countVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q: want a number of decisions", countVariable, text)
		}
		want = n
	}
	c := campaign{t: t, rig: r, seed: rand.Uint64N(1_000_000), want: want, kinds: map[string]int{}, known: map[string]int{}, progress: want > defaultDecisions}
	c.run()
	c.report()
}

// campaign is a run of many cases.
type campaign struct {
	t        *testing.T
	rig      rig
	seed     uint64
	want     int
	progress bool

	mu        sync.Mutex
	next      uint64
	cases     int
	refused   int
	decisions int
	denied    int
	known     map[string]int
	kinds     map[string]int // of disagreements
	broken    int
}

func (c *campaign) run() {
	begin, shown := time.Now(), 0
	var wg sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), 4)) {
		wg.Go(func() {
			for {
				c.mu.Lock()
				n := c.next
				c.next++
				stop := c.decisions >= c.want || len(c.kinds) >= maxReportedKinds || c.broken >= maxReportedKinds
				if c.progress && c.decisions/100_000 > shown {
					shown = c.decisions / 100_000
					fmt.Printf("%d decisions in %d cases, seed %d, %s\n", c.decisions, c.cases, c.seed, time.Since(begin).Round(time.Second))
				}
				c.mu.Unlock()
				if stop {
					return
				}
				c.runOne(c.t.Context(), n)
			}
		})
	}
	wg.Wait()
}

func (c *campaign) runOne(ctx context.Context, n uint64) {
	g := newGenerator(c.seed, n)
	w := g.world()
	o, err := c.rig.runCase(ctx, w, g.questions(questionsPerCase))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cases++
	if err != nil {
		c.broken++
		c.t.Errorf("case %s=%d:%d: %v\n%s", caseVariable, c.seed, n, err, w)
		return
	}
	if o.refused != "" {
		c.refused++
		return
	}
	c.decisions += o.decisions
	c.denied += o.denied
	for k, n := range o.known {
		c.known[k] += n
	}
	for _, d := range o.differ {
		k := d.kind()
		c.kinds[k]++
		if c.kinds[k] > maxReportedPerKind || len(c.kinds) > maxReportedKinds {
			continue
		}
		small, found := c.rig.shrink(ctx, w, d)
		c.t.Errorf("case %s=%d:%d: the boundaries differ\n%s\n%s", caseVariable, c.seed, n, found, small)
	}
}

func (c *campaign) report() {
	c.t.Logf("seed %d: %d decisions (%d denied by both) in %d cases, of which %d were refused; known differences: %v",
		c.seed, c.decisions, c.denied, c.cases, c.refused, c.known)
	if len(c.kinds) > 0 {
		var kinds []string
		for k, n := range c.kinds {
			kinds = append(kinds, fmt.Sprintf("%6d × %s", n, k))
		}
		c.t.Errorf("disagreements by kind:\n%s", strings.Join(kinds, "\n"))
	}
	if c.want == 1 {
		return
	}
	if c.refused*2 > c.cases {
		c.t.Errorf("%d of %d random settings were refused: the cases are hardly random any more", c.refused, c.cases)
	}
	if c.denied*8 < c.decisions || c.denied*8 > 7*c.decisions {
		c.t.Errorf("%d of %d decisions were denials: one answer is hardly tried", c.denied, c.decisions)
	}
}

package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func TestArgumentsAreReadExactly(t *testing.T) {
	q, err := search.DecodeContent([]byte(`{"pattern":"-x","path":"src","limit":5,"max_depth":2.0,"ignore_case":true,"literal":true,"glob":"*.go","iglob":"*.GO","hidden":true,"no_ignore":true,"follow":false}`), false)
	if err != nil {
		t.Fatal(err)
	}
	if q.Pattern != "-x" || q.Path != "src" || *q.Limit != 5 || *q.MaxDepth != 2 || !q.IgnoreCase || !q.Literal || q.Glob != "*.go" || q.IGlob != "*.GO" || !q.Hidden || !q.NoIgnore || q.Follow {
		t.Errorf("got %+v", q)
	}
	q, err = search.DecodeContent([]byte(`{"pattern":""}`), false)
	if err != nil || q.Limit != nil || q.MaxDepth != nil {
		t.Errorf("omitted bounds: %+v, %v; want none", q, err)
	}
	p, err := search.DecodePaths([]byte(`{"glob":"*","limit":1e2,"follow":true}`), true)
	if err != nil || *p.Limit != 100 || !p.Follow {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestArgumentsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ raw, says string }{
		{``, "JSON object"}, {`null`, "JSON object"}, {`[]`, "JSON object"}, {`{"pattern":"x"`, "JSON object"}, {`{"pattern":"x"} {}`, "JSON object"},
		{`{}`, "pattern is missing"},
		{`{"pattern":null}`, "pattern must be a string"}, {`{"pattern":5}`, "pattern must be a string"},
		{`{"pattern":"x","Pattern":"y"}`, `no argument "Pattern"`}, {`{"pattern":"x","pattern":"y"}`, `"pattern" is given twice`},
		{`{"pattern":"x","max-depth":1}`, `no argument "max-depth"`}, {`{"pattern":"x","extra\u001b":1}`, `no argument "extra\x1b"`},
		{`{"pattern":"x","limit":0}`, "limit must be"}, {`{"pattern":"x","limit":-1}`, "limit must be"}, {`{"pattern":"x","limit":1.5}`, "limit must be"},
		{`{"pattern":"x","limit":1e400}`, "limit must be"}, {`{"pattern":"x","limit":1e300}`, "limit must be"}, {`{"pattern":"x","limit":NaN}`, "JSON object"},
		{`{"pattern":"x","limit":Infinity}`, "JSON object"}, {`{"pattern":"x","limit":"5"}`, "limit must be"}, {`{"pattern":"x","limit":null}`, "limit must be"},
		{`{"pattern":"x","max_depth":0}`, "max_depth must be"}, {`{"pattern":"x","max_depth":0.5}`, "max_depth must be"},
		{`{"pattern":"x","hidden":1}`, "hidden must be true or false"}, {`{"pattern":"x","hidden":"true"}`, "hidden must be true or false"},
		{`{"pattern":"x","follow":true}`, "audited"},
	} {
		_, err := search.DecodeContent([]byte(c.raw), false)
		e := outcome.Of(err, "")
		if e == nil || e.Outcome != outcome.InvalidArguments || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v; want invalid arguments that say %q", c.raw, err, c.says)
		}
	}
	for _, name := range []string{"ignore_case", "literal", "pattern"} {
		_, err := search.DecodePaths([]byte(`{"glob":"*","`+name+`":true}`), false)
		if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.InvalidArguments || !strings.Contains(e.Error(), "no argument") {
			t.Errorf("find_files with %s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range []string{`{"pattern":"x","limit":5}`, `{"glob":"**/{a,b}*[!x].go","iglob":"*.MD"}`, `{"pattern":"\u0000","glob":"\\"}`, `{"glob":"!a/"}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if q, err := search.DecodeContent(raw, false); err == nil {
			if !json.Valid(raw) || q.Follow || q.Limit != nil && *q.Limit < 1 || q.MaxDepth != nil && *q.MaxDepth < 1 {
				t.Errorf("%q gives %+v", raw, q)
			}
		}
		if q, err := search.DecodePaths(raw, false); err == nil && (q.Glob == "" || q.Follow) {
			t.Errorf("%q gives %+v", raw, q)
		}
	})
}

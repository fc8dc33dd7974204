package jsonval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/theory/jsonpath"
	"pgregory.net/rapid"
)

const store = `{"store":{"book":[
 {"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},
 {"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},
 {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
 {"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99}],
 "bicycle":{"color":"red","price":399}},"it's":[[1],[2,[3]]]}`

func selected(t interface{ Fatalf(string, ...any) }, root any, path string) []string {
	p, err := ParsePath(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var got []string
	err = p.Select(context.Background(), root, func(at *Place, v any) bool {
		got = append(got, at.String()+"="+Format(v, ""))
		return true
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return got
}

func TestPathsByHand(t *testing.T) {
	root, err := Decode(store, Strict)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want []string
	}{
		{"$.store.bicycle.color", []string{`$['store']['bicycle']['color']="red"`}},
		{"$.store.book[*].price", []string{"$['store']['book'][0]['price']=8.95", "$['store']['book'][1]['price']=12.99", "$['store']['book'][2]['price']=8.99", "$['store']['book'][3]['price']=22.99"}},
		{"$..price", []string{"$['store']['book'][0]['price']=8.95", "$['store']['book'][1]['price']=12.99", "$['store']['book'][2]['price']=8.99", "$['store']['book'][3]['price']=22.99", "$['store']['bicycle']['price']=399"}},
		{"$..book[?(@.isbn)].title", []string{`$['store']['book'][2]['title']="Moby Dick"`, `$['store']['book'][3]['title']="The Lord of the Rings"`}},
		{"$..book[?@.price<10].author", []string{`$['store']['book'][0]['author']="Nigel Rees"`, `$['store']['book'][2]['author']="Herman Melville"`}},
		{"$.store.book[-1:].title", []string{`$['store']['book'][3]['title']="The Lord of the Rings"`}},
		{"$.store.book[1,0].price", []string{"$['store']['book'][1]['price']=12.99", "$['store']['book'][0]['price']=8.95"}},
		{"$.store.book[::-2].price", []string{"$['store']['book'][3]['price']=22.99", "$['store']['book'][1]['price']=12.99"}},
		{`$["it's"][1][1]`, []string{`$['it\'s'][1][1]=[3]`}},
		{"$['it\\'s']..[0]", []string{`$['it\'s'][0]=[1]`, `$['it\'s'][0][0]=1`, `$['it\'s'][1][0]=2`, `$['it\'s'][1][1][0]=3`}},
		{"$.store.book[?match(@.author, 'J.*')].price", []string{"$['store']['book'][3]['price']=22.99"}},
		{"$.store.book[?@.price == $.store.book[0].price].price", []string{"$['store']['book'][0]['price']=8.95"}},
		{"$.store.book[9]", nil}, {"$.store.book[-9]", nil}, {"$.nothing", nil}, {"$.store.book.price", nil},
	} {
		if got := selected(t, root, c.path); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.path, got, c.want)
		}
	}
	if got := selected(t, root, "$"); len(got) != 1 || !strings.HasPrefix(got[0], `$={"store"`) {
		t.Errorf("$: %q", got)
	}
}

func TestPathErrors(t *testing.T) {
	for path, says := range map[string]string{
		"user.name": "starts with '$'", "": "starts with '$'", "$[": "RFC 9535", "$.a[?(@.x === 1)]": "RFC 9535",
		"$" + strings.Repeat(".a", MaxPath): "at most", "$[?nosuch(@)]": "nosuch", "$..[?@..[?@..[?@]]]": "'..' inside", "$.store.": "RFC 9535",
	} {
		_, err := ParsePath(path)
		var pe *PathError
		if !errors.As(err, &pe) || !strings.Contains(pe.Msg, says) {
			t.Errorf("%.40q: %v, want %q", path, err, says)
		}
	}
}

func TestPathProperties(t *testing.T) {
	p := func(text string) *Path {
		path, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	if !p("$.a[0]['b']").Singular() || p("$.a[*]").Singular() || p("$..a").Singular() || !p("$").Singular() {
		t.Error("Singular")
	}
	if !p("$[*].a").SelectsChildren() || !p("$[?@.a]").SelectsChildren() || p("$.a[*]").SelectsChildren() || p("$").SelectsChildren() {
		t.Error("SelectsChildren")
	}
	f, ok := p("$[?@.age > 18]").Filter()
	if _, no := p("$.a[?@.age > 18]").Filter(); !ok || no {
		t.Fatal("Filter")
	}
	for text, want := range map[string]bool{`{"age":20}`: true, `{"age":3}`: false, `7`: false, `[20]`: false} {
		v, _ := Decode(text, Strict)
		if got, err := f.Keeps(t.Context(), v); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	deep, err := Decode(strings.Repeat("[", 2000)+strings.Repeat("]", 2000), Strict)
	if err != nil {
		t.Fatal(err)
	}
	all := func(*Place, any) bool { return true }
	many := &Array{Elems: make([]any, 10_000)}
	for text, root := range map[string]any{"$..*..*..*": deep, "$[?$..a]": many} {
		p, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Select(t.Context(), root, all); !errors.Is(err, ErrTooManyNodes) {
			t.Errorf("%s: %v", text, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wide := &Array{Elems: make([]any, 10_000)}
		if err := p.Select(ctx, wide, all); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", text, err)
		}
	}
	// The first match of a large value is found without looking at the rest.
	p, _ := ParsePath("$..a")
	big := &Array{Elems: make([]any, 5_000_000)}
	big.Elems[0] = &Object{Keys: []string{"a"}, Vals: []any{true}}
	if n := testing.AllocsPerRun(1, func() {
		p.Select(context.Background(), big, func(*Place, any) bool { return false })
	}); n > 50 {
		t.Errorf("%v allocations for the first match", n)
	}
}

func TestWalkEqualsLibrary(t *testing.T) {
	parts := []string{".a", ".b", "['x y']", "[0]", "[-1]", "[*]", ".*", "..a", "..*", "..[0]", "[1:]", "[::-1]", "[0,1]", "['a','b']", "[?@.a]", "[?@>0]", "[?@.a==@.b]", "[?@==$.a]", "[?length(@)>1]", "..[?@.b]"}
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(drawValue(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		path := "$" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(t, "path"), "")
		ours, err := Decode(string(b), Strict)
		if err != nil {
			t.Fatal(err)
		}
		got := selected(t, ours, path)
		var want []string
		for n := range jsonpath.MustParse(path).SelectLocated(plainOf(ours)).All() {
			out, err := json.Marshal(n.Node)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Decode(string(out), Strict)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, n.Path.String()+"="+Format(again, ""))
		}
		// The library goes through objects in random order, and ours are sorted here because json.Marshal sorts.
		slices.Sort(got)
		slices.Sort(want)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %s:\n got %q\nwant %q", path, b, got, want)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"$..book[?(@.isbn)].title", "$.store.book[::-2]", "$['it\\'s'][0,-1]", "$[?@.a==1||!@.b&&(@.c)]", "$[?search(@.a,'x')]", "$[?count(@.*)>1]", "$..[?value($..a)==1]"} {
		f.Add(s)
	}
	root, err := Decode(store, Strict)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		n := 0
		err = p.Select(t.Context(), root, func(at *Place, v any) bool {
			n++
			// A normalized path selects the node it names, and nothing else.
			if got := selected(t, root, at.String()); len(got) != 1 || got[0] != fmt.Sprint(at, "=", Format(v, "")) {
				t.Fatalf("%q gives %s, which gives %q", text, at, got)
			}
			return n < 20
		})
		if err != nil && !errors.Is(err, ErrTooManyNodes) {
			t.Fatalf("%q: %v", text, err)
		}
		if p.Singular() && n > 1 {
			t.Fatalf("%q is singular and gave %d nodes", text, n)
		}
	})
}

func TestFormatIsIndented(t *testing.T) {
	v, err := Decode(`{"a":[1,{"b":[]}],"c":{},"d":"<&>\u2028"}`, Strict)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {},\n  \"d\": \"<&>\\u2028\"\n}"
	if got := Format(v, "  "); got != want {
		t.Errorf("%s", got)
	}
	long := strings.Repeat("é", 10_000)
	if got := Format(long, ""); got != `"`+long+`"` {
		t.Error("a long string is cut into wrong pieces")
	}
	pieces := 0
	if Write(strings.Repeat("x", 1<<20), "", func(string) bool { pieces++; return pieces < 3 }) || pieces != 3 {
		t.Errorf("%d pieces after a stop", pieces)
	}
}

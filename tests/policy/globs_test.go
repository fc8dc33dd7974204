package policy

import "testing"

// Patterns in each of the four lists.
func TestPatterns(t *testing.T) {
	check(t, []rule{
		{name: "one level", settings: `{"filesystem": {"denyRead": ["./*.key"]}}`,
			try: "$A read x.key; $A read d/x.key; $A read y.pem", want: "open: EACCES\np/d/x.key\np/y.pem", control: "p/x.key\np/d/x.key\np/y.pem"},
		{name: "every level", settings: `{"filesystem": {"denyRead": ["**/*.key"]}}`,
			try: "$A read x.key; $A read d/x.key; $A read y.pem", want: "open: EACCES\nopen: EACCES\np/y.pem", control: "p/x.key\np/d/x.key\np/y.pem"},
		{name: "directories", settings: `{"filesystem": {"denyRead": ["**/e"]}}`,
			try: "$A read d/e/f; $A read d/e/g/h/f; $A read d/f", want: "open: EACCES\nopen: EACCES\np/d/f", control: "p/d/e/f\np/d/e/g/h/f\np/d/f"},
		{name: "a directory and all below it", settings: `{"filesystem": {"denyRead": ["./d/**"]}}`,
			try: "$A read d/f; $A open d directory", want: "open: EACCES\nEACCES", control: "p/d/f\nok"},
		{name: "question mark and set", settings: `{"filesystem": {"denyRead": ["./?.[jk]ey"]}}`,
			try: "$A read x.key; $A read y.pem", want: "open: EACCES\np/y.pem", control: "p/x.key\np/y.pem"},
		{name: "a pattern that is a name", settings: `{"filesystem": {"denyRead": ["./pages/[id]"]}}`,
			try: "$A read 'pages/[id]/f'", want: "open: EACCES", control: "p/pages/[id]/f"},
		{name: "a literal entry", settings: `{"filesystem": {"denyRead": [{"path": "./pages/[id]", "literal": true}]}}`,
			try: "$A read 'pages/[id]/f'; $A read pages/i/f", want: "open: EACCES\np/pages/i/f", control: "p/pages/[id]/f\np/pages/i/f"},
		{name: "a name with a newline", settings: `{"filesystem": {"denyRead": ["./pages/n*"]}}`,
			try: "for d in pages/n*; do $A read \"$d/f\"; done", want: "open: EACCES", control: "p/pages/n\nl/f"},
		{name: "re-opened by a pattern", settings: `{"filesystem": {"denyRead": ["./d"], "allowRead": ["./d/**/g"]}}`,
			try: "$A read d/e/g/f; $A read d/e/f", want: "p/d/e/g/f\nopen: ENOENT", without: `{"filesystem": {"denyRead": ["./d"]}}`, control: "open: EACCES\nopen: EACCES"},
		{name: "writable by a pattern", settings: `{"filesystem": {"allowWrite": ["./*.key"]}}`,
			try: "$A open x.key append; $A open y.pem append; $A open z.key create", want: "ok\nEROFS\nEROFS", without: `{}`, control: "EROFS\nEROFS\nEROFS"},
		{name: "closed by a pattern", settings: `{"filesystem": {"allowWrite": ["."], "denyWrite": ["**/*.key"]}}`,
			try: "$A open x.key append; $A open d/x.key append; $A open y.pem append", want: "EROFS\nEROFS\nok", without: `{"filesystem": {"allowWrite": ["."]}}`, control: "ok\nok\nok"},
		{name: "a link that a pattern matches", settings: `{"filesystem": {"denyRead": ["./?"], "allowRead": ["./a"]}}`,
			try: "$A read d/f; $A read l/f; $A read a", want: "open: EACCES\nopen: EACCES\np/a", control: "p/d/f\np/d/f\np/a"},
		{name: "a pattern does not climb out through a link", settings: `{"filesystem": {"denyRead": ["./up/**/out"]}}`,
			try: "$A read ~/out; $A read up/out", want: "open: EACCES\nopen: EACCES", control: "out\nout"},
		{name: "a walk does not follow links", settings: `{"filesystem": {"denyRead": ["./**/out"]}}`,
			try: "$A read ~/out", want: "out", without: `{"filesystem": {"denyRead": ["~/out"]}}`, control: "open: EACCES"},
	})
}

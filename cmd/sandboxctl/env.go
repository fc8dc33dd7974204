package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// Env is what the program has from its surroundings, so that a test can give it another.
type Env struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	// OutFile and ErrFile are handed to commands, which need descriptors.
	OutFile, ErrFile *os.File
	Environ          []string
}

func processEnv() Env {
	return Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, OutFile: os.Stdout, ErrFile: os.Stderr, Environ: os.Environ()}
}

// Getenv returns the last value of a variable; "" when it is not set.
func (e Env) Getenv(name string) string {
	value := ""
	for _, v := range e.Environ {
		if n, val, ok := strings.Cut(v, "="); ok && n == name {
			value = val
		}
	}
	return value
}

// printable escapes what could move the cursor, forge a line or hide in a message: names come from settings and file trees.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != ' ' {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/spf13/cobra"
)

// sessionOptions are the flags that say which policy holds and where.
type sessionOptions struct {
	settings string // file; "" = ~/.srt-settings.json, else the built-in defaults
	cwd      string // working directory; "" = the current one
}

func (o *sessionOptions) bind(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.settings, "settings", "s", "", "settings `FILE` (default: ~/.srt-settings.json if it exists, else reads open, no writes, no network)")
	cmd.Flags().StringVarP(&o.cwd, "cwd", "C", "", "working `DIR` of the session (default: the current directory)")
	_ = cmd.MarkFlagFilename("settings", "json")
	_ = cmd.MarkFlagDirname("cwd")
}

// load reads the settings. An explicit file that is missing or wrong is an error; nothing falls back.
func (o *sessionOptions) load(env Env) (*srtconfig.Settings, error) {
	if o.settings != "" {
		return srtconfig.Load(o.settings)
	}
	home := homeDir(env)
	if home == "" {
		return srtconfig.Default(), nil
	}
	file := filepath.Join(home, ".srt-settings.json")
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return srtconfig.Default(), nil
	}
	return srtconfig.Load(file)
}

// describe says in a few words which settings hold.
func (o *sessionOptions) describe(s *srtconfig.Settings) string {
	if s.File() == "" {
		return "built-in defaults (reads open, no writes, no network)"
	}
	return s.File()
}

func (o *sessionOptions) derive(ctx context.Context, env Env, s *srtconfig.Settings) (*srtconfig.Rules, error) {
	cwd := o.cwd
	if cwd == "" {
		cwd = "."
	}
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the program's own path: %w", err)
	}
	return srtconfig.Derive(ctx, s, srtconfig.Host{
		Cwd: abs, Home: homeDir(env), Executable: exe, ConfigHome: env.Getenv("XDG_CONFIG_HOME"),
	})
}

func (o *sessionOptions) rules(ctx context.Context, env Env) (*srtconfig.Rules, error) {
	s, err := o.load(env)
	if err != nil {
		return nil, err
	}
	return o.derive(ctx, env, s)
}

// homeDir is $HOME, else what the user database says. A relative $HOME is none.
func homeDir(env Env) string {
	home := env.Getenv("HOME")
	if home == "" {
		if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
			home = u.HomeDir
		}
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return home
}

// warn prints the remarks about the settings that matter to a run, one line each. `settings check` prints the minor ones too.
func warn(env Env, warnings []srtconfig.Warning) {
	for _, w := range warnings {
		if w.Minor {
			continue
		}
		where := ""
		if w.Source.Line > 0 {
			where = fmt.Sprintf("%s:%d: ", w.Source.File, w.Source.Line)
		}
		fmt.Fprintf(env.Stderr, "sandboxctl: %s\n", printable(where+w.Message))
	}
}

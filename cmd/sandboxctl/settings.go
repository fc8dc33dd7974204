package main

import (
	"fmt"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/spf13/cobra"
)

func newSettingsCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Check, show and write settings files",
	}
	cmd.AddCommand(newSettingsCheckCmd(env), newSettingsShowCmd(env), newSettingsSchemaCmd(env), newSettingsInitCmd(env))
	return cmd
}

func newSettingsCheckCmd(env Env) *cobra.Command {
	var o sessionOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Validate the settings and say what in them may surprise",
		Long: `Validate the settings for this host and working directory: every key, every pattern, every path; and say whether this
host can enforce them.

Exit status: 0 when a run would start, 125 with one line for each mistake otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := o.load(env)
			if err != nil {
				return err
			}
			rules, err := o.derive(cmd.Context(), env, settings)
			if err != nil {
				return err
			}
			plan, err := enforcer.Compile(rules, enforcer.FactsOf())
			if err != nil {
				return err
			}
			for _, w := range append(settings.WithoutEffect(), plan.Warnings...) {
				if _, err := fmt.Fprintf(env.Stdout, "%s:%d: %s\n", w.Source.File, w.Source.Line, printable(w.Message)); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(env.Stdout, "%s: ok, %d path rules, tier %s\n", printable(o.describe(settings)), len(rules.Paths()), plan.Tier)
			return err
		},
	}
	o.bind(cmd)
	return cmd
}

func newSettingsShowCmd(env Env) *cobra.Command {
	var o sessionOptions
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the rules that the settings mean here, as JSON",
		Long: `Print the derived rules as JSON: every path absolute and resolved, patterns expanded, protected paths included, each with
the place in the settings file that it comes from.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rules, err := o.rules(cmd.Context(), env)
			if err != nil {
				return err
			}
			return writeJSON(env, rules)
		},
	}
	o.bind(cmd)
	return cmd
}

func newSettingsSchemaCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of settings files",
		Long:  `Print the JSON Schema of settings files, for editors: save it and name it in the key "$schema".`,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Stdout.Write(srtconfig.Schema())
			return err
		},
	}
}

// profiles are the starters that `settings init` writes. Comments are allowed in settings.
var profiles = map[string]string{
	"strict": `{
  // Nothing below the home directory can be read but the project; nothing can be written; no network.
  "filesystem": {
    "denyRead": ["~"],
    "allowRead": ["."],
    "allowWrite": [],
    "denyWrite": []
  },
  "network": { "allowedDomains": [], "deniedDomains": [] }
}
`,
	"workspace": `{
  // The project can be written, secrets in the usual places cannot be read, no network.
  "filesystem": {
    "denyRead": ["~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker", "~/.netrc", "~/.npmrc", "~/.pypirc", "~/.git-credentials"],
    "allowWrite": ["."],
    "denyWrite": []
  },
  "network": { "allowedDomains": [], "deniedDomains": [] }
}
`,
	"readonly": `{
  // Secrets in the usual places cannot be read, nothing can be written, no network.
  "filesystem": {
    "denyRead": ["~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker", "~/.netrc", "~/.npmrc", "~/.pypirc", "~/.git-credentials"],
    "allowWrite": [],
    "denyWrite": []
  },
  "network": { "allowedDomains": [], "deniedDomains": [] }
}
`,
}

func newSettingsInitCmd(env Env) *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Print a settings file to start from",
		Example: "  sandboxctl settings init --profile workspace > sandbox.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, ok := profiles[profile]
			if !ok {
				return &usageError{fmt.Errorf("--profile %q: strict, workspace or readonly", profile)}
			}
			_, err := fmt.Fprint(env.Stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "workspace", "`NAME`: strict, workspace or readonly")
	return cmd
}

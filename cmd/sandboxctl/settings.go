package main

import (
	"fmt"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/spf13/cobra"
)

func newSettingsCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Check, show and write settings files",
	}
	cmd.AddCommand(newSettingsCheckCmd(env), newSettingsInitCmd(env))
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
			for _, w := range plan.Warnings {
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

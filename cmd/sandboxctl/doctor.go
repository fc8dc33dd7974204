package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/spf13/cobra"
)

func newDoctorCmd(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this host can enforce",
		Long: `Try each kernel feature that a sandbox uses and show what was found. Nothing is read from version numbers.

Exit status: 0 when tier full is there, 1 when it is not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := enforcer.Probe(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(env, r)
			} else {
				err = printReport(env, r)
			}
			if err == nil && !r.Full() {
				err = &statusError{exitDenied}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printReport(env Env, r enforcer.Report) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FEATURE\tHERE\tGIVES\tTRIED BY")
	for _, c := range r.Checks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.State, c.Gives, c.How)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Checks {
		if c.Detail != "" {
			fmt.Fprintf(env.Stdout, "%s: %s\n", c.Name, printable(c.Detail))
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "tier: %s\n", r.Tier)
	return err
}

func writeJSON(env Env, v any) error {
	e := json.NewEncoder(env.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// srtVersion is the version of the settings format.
const srtVersion = "0.0.78"

func newVersionCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version := "devel"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(env.Stdout, "sandboxctl %s %s/%s %s, settings of srt %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version(), srtVersion)
			return err
		},
	}
}

// Command nostage forgets to hand over to the stage.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func main() {
	fmt.Println("main runs")
	rules, err := srtconfig.Derive(context.Background(), srtconfig.Default(), srtconfig.Host{Cwd: "/", Home: "/"})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	e, err := enforcer.New(rules)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	_, err = e.Run(context.Background(), enforcer.Operation{Argv: []string{"true"}})
	fmt.Println(err)
}

package workspace_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// view is all that a model sees of an error, with the name that was asked for taken out.
func view(err error, asked string) string {
	var e *outcome.Error
	if !errors.As(err, &e) {
		return "foreign: " + err.Error()
	}
	v := e.View()
	return fmt.Sprintf("%s %s %s", v.Code, v.Outcome, strings.ReplaceAll(v.Message, outcome.Quote(asked), "NAME"))
}

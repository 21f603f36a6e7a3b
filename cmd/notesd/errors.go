package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/service"
)

// unwritten returns the failure of a run whose output could not be written.
func unwritten(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &service.Failure{Code: "failed", Message: fmt.Sprintf("standard output cannot be written: %v", err)}
}

// asUsage returns a failure for cobra's error about the command line.
func asUsage(err error, root *cobra.Command, args []string) error {
	var shown *service.Failure
	if errors.As(err, &shown) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil || cmd == nil {
		cmd = root
	}
	message, hint := flagProblem(cmd, err)
	return service.Usagef(hint, "%s", message)
}

func unknownCommand(root *cobra.Command, name string) error {
	hint := "See notesd -h."
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("Did you mean notesd %s?", strings.Join(near, " or notesd "))
	}
	return service.Usagef(hint, "there is no command %q", name)
}

// report prints the failure of a run to standard error.
func (o *output) report(f *service.Failure) {
	if o.json {
		_ = o.err.json(map[string]*service.Failure{"error": f}) // its failure could not be reported either
		return
	}
	fmt.Fprintf(o.err, "%s %s\n", o.err.red("notesd:"), o.err.plain(f.Message))
	if f.Hint != "" {
		fmt.Fprintln(o.err, o.err.plain(f.Hint))
	}
	for _, c := range f.Candidates {
		fmt.Fprintln(o.err, "  "+o.err.plain(c))
	}
	if f.Diff != "" {
		fmt.Fprint(o.err, o.err.plain(f.Diff))
	}
}

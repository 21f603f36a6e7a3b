package main

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"notesd/internal/service"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// maxBody is the longest note that is taken from standard input; a longer file
// would be no note.
const maxBody = 16 << 20

func newCommand(a *app) *cobra.Command {
	var folder, path string
	var tags []string
	cmd := &cobra.Command{
		Use:   "new [flags] TITLE",
		Short: "Make a note",
		Long: `Make a note and print its path. The body comes from standard input. The file is
named after the title; an existing file is never replaced.`,
		Example: `  echo "Feed it twice a day." | notesd new --folder Recipes "Rye starter"
  notesd new --tag idea "Buy a boat" < /dev/null`,
		Args: takes("TITLE"),
		RunE: func(cmd *cobra.Command, titles []string) error {
			body, err := a.body(cmd.Context())
			if err != nil {
				return err
			}
			args := map[string]any{"title": titles[0], "content": body}
			put(args, "folder", folder)
			put(args, "path", path)
			put(args, "tags", tags)
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				if a.json {
					return a.printCall(ctx, c, "create_note", args)
				}
				var made struct {
					Path string `json:"path"`
				}
				if err := c.call(ctx, "create_note", args, &made); err != nil {
					return err
				}
				_, err := fmt.Fprintln(a.out, a.out.line(made.Path))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "the `folder` to put it in")
	cmd.Flags().StringVar(&path, "path", "", "the `path` to give it, instead of folder and title")
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "give it this `tag`; may be repeated")
	completes(cmd, "folder", a.offer(completeFolders))
	completes(cmd, "tag", a.offer(completeTags))
	a.jsonFlag(cmd)
	return cmd
}

// inTerminal reports whether standard input is a terminal.
func (a *app) inTerminal() bool {
	f, ok := a.in.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// body reads a note's text from standard input, until ctx ends.
func (a *app) body(ctx context.Context) (string, error) {
	if a.inTerminal() {
		a.note("Type the note; end it with Ctrl-D on a line of its own.")
	}
	var data []byte
	read := make(chan error, 1)
	go func() { // ends with standard input, or with the program
		var err error
		data, err = io.ReadAll(io.LimitReader(a.in, maxBody+1))
		read <- err
	}()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > maxBody {
		return "", service.Usagef("Split it into several notes.", "the note is longer than 16 MiB")
	}
	if !utf8.Valid(data) {
		return "", service.Usagef("Convert it first, for example with iconv.", "standard input is not UTF-8 text")
	}
	return string(data), nil
}

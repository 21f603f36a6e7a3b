// Package desktop opens links and files with the desktop's default programs.
package desktop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// Open opens a link or a file and waits for the desktop's command, which writes its messages
// to a file: Run would wait for a pipe until the opened program exits.
func Open(ctx context.Context, target string, messages *os.File) error {
	open := command(ctx, target)
	open.Stderr = messages
	if err := open.Run(); err != nil {
		return fmt.Errorf("%s: %w", open.Args[0], err)
	}
	return nil
}

// Launch opens a link or a file, best effort, without waiting. What it opens survives this
// process and a Ctrl-C in its terminal.
func Launch(target string) {
	open := command(context.Background(), target)
	detach(open)
	_ = open.Start()
}

func command(ctx context.Context, target string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", target)
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", target)
	}
	return exec.CommandContext(ctx, "xdg-open", target)
}

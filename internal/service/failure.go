package service

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"notesd/internal/atomicfile"
	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/sqlite"
	"notesd/mcp"
	"notesd/migrations"
	"notesd/notes/pglog"
)

// The exit codes.
const (
	ExitDone     = 0
	ExitFailed   = 1
	ExitUsage    = 2 // wrong usage or configuration
	ExitNotFound = 3
	ExitConflict = 4
)

// Failure is an error as shown to users and programs.
type Failure = mcp.Failure

// exitCodes maps the codes of failures to exit codes; other codes map to
// ExitFailed.
var exitCodes = map[string]int{
	"usage":     ExitUsage,
	"config":    ExitUsage,
	"invalid":   ExitUsage,
	"ambiguous": ExitUsage,
	"not_found": ExitNotFound,
	"exists":    ExitConflict,
	"conflict":  ExitConflict,
}

// FailureOf converts an error to the failure that is shown.
func FailureOf(err error) *Failure {
	f := &Failure{Code: "failed", Message: err.Error()}
	var (
		shown   *Failure
		mistake *config.Error
		start   *daemon.StartError
		other   *daemon.VaultError
	)
	switch {
	case errors.As(err, &shown):
		f = shown
	case errors.As(err, &mistake):
		f.Code = "config"
		if slices.ContainsFunc(mistake.Problems, func(p config.Problem) bool { return p.Hint == "" }) {
			f.Hint = "notesd config --example prints every setting with its explanation."
		}
	case mcp.DomainFailure(err) != nil:
		f = mcp.DomainFailure(err)
		f.Message = err.Error()
	case errors.As(err, &other):
		f.Code, f.Message, f.Hint = "config", other.Error(), otherVaultHint
	case errors.Is(err, daemon.ErrLocked):
		f.Code = "locked"
		f.Hint = "Only one process can serve a vault. Stop it, or use it: commands and \"notesd mcp\" find it automatically."
	case errors.Is(err, migrations.ErrNewer):
		f.Code = "newer"
	case errors.As(err, &start) && start.Code != 0:
		f.Exit = start.Code
	case pglog.Hint(err) != "":
		f.Hint = pglog.Hint(err)
	case sqlite.IsFull(err):
		f.Code, f.Message, f.Hint = "disk_full", "the disk that holds notesd's state is full", fullHint
	case atomicfile.IsDiskFull(err):
		f.Code, f.Hint = "disk_full", fullHint
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		f.Hint = "Raise the limit of open files (ulimit -n)."
	case errors.Is(err, daemon.ErrState):
		f.Code, f.Hint = "state", stateHint
	case errors.Is(err, fs.ErrPermission):
		f.Code = "permission"
	case sqlite.Trouble(err) != "" || errors.Is(err, syscall.ENOLCK):
		f.Hint = "The state needs a local disk that works, not a network folder: name another place with --state."
	}
	f.Exit = cmp.Or(f.Exit, exitCodes[f.Code], ExitFailed)
	return f
}

// WithHint returns err with the hint of its failure, for those who see only an error's text.
func WithHint(err error) error {
	if hint := FailureOf(err).Hint; hint != "" {
		return fmt.Errorf("%w. %s", err, hint)
	}
	return err
}

// fullHint is the hint for a full disk.
const fullHint = "Free some space where the state is kept, or choose another place for it with --state, and try again."

// stateHint is the hint for a state directory in which no file can be written.
const stateHint = "Check the disk with this folder, or name a folder that you may write to with --state DIR or with the variable NOTESD_STATE."

// otherVaultHint is the hint for a state that belongs to another vault.
const otherVaultHint = "Each vault needs its own state: choose another with --state, or remove the state setting. " +
	"If this is the same vault, copied to a new place, delete " + vaultFile + " from that folder first."

// Usagef returns the failure of a command that was used incorrectly.
func Usagef(hint, format string, args ...any) error {
	return &Failure{Code: "usage", Message: fmt.Sprintf(format, args...), Hint: hint}
}

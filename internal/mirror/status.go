package mirror

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"notesd/notes"
	"notesd/notes/pglog"
)

// Status is the state of a mirror.
type Status struct {
	Place     string   `json:"place"`     // the database and the vault's name in it
	Seq       uint64   `json:"seq"`       // of the newest batch applied to the folder
	Pending   int      `json:"pending"`   // files that differ from the log and are not synced yet
	Fetching  bool     `json:"fetching"`  // the folder is new and does not have all files of the log yet
	Conflicts []string `json:"conflicts"` // conflict copies made since the start, newest last

	Error    string    `json:"-"` // why the last sync failed, or ""
	Problems []string  `json:"-"` // files that are skipped, with the reason
	Replaced time.Time `json:"-"` // when the database last had another log, or an older copy, since the start; or zero
}

// Status returns the state of the mirror.
func (m *Mirror) Status(ctx context.Context) (Status, error) {
	m.status.Lock()
	s := m.status.Status
	s.Problems, s.Conflicts = slices.Clone(s.Problems), append([]string{}, s.Conflicts...)
	m.status.Unlock()
	s.Seq = m.followed.load()
	pending, err := m.pending(ctx)
	s.Pending = len(slices.DeleteFunc(pending, m.vault.Ignored))
	return s, err
}

// condition is the state that Status reports.
type condition struct {
	log *slog.Logger

	sync.Mutex
	Status
	failed error // the error of the last sync
	copies int   // conflict copies made
	left   int   // files that retryPending has to compare; 0 if not known yet
}

// report records the result of a sync, and logs it if it differs from the previous one.
func (c *condition) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
		if hint := pglog.Hint(err); hint != "" {
			text += ". " + hint
		}
	}
	c.Lock()
	defer c.Unlock()
	switch was := c.Error; {
	case text == was:
	case text != "":
		c.log.Warn("the folder and the log are not in step; it will be tried again", "err", text)
	default:
		c.log.Info("the folder and the log are in step again")
	}
	c.Error, c.failed = text, err
}

func (c *condition) fetching() bool {
	c.Lock()
	defer c.Unlock()
	return c.Fetching
}

// progress records how many files have to be compared. fetched is set if the folder has all
// files of the log.
func (c *condition) progress(left int, fetched bool) {
	c.Lock()
	defer c.Unlock()
	c.left, c.Fetching = left, c.Fetching && !fetched
}

// replaced records and logs that the database has another log, or an older copy of it.
func (c *condition) replaced(now time.Time) {
	c.Lock()
	defer c.Unlock()
	c.Replaced = now
	c.log.Warn("the database has another log than before, or an older copy of it; every file is compared")
}

// maxListed limits the lists in a status.
const maxListed = 20

// problem records and logs, once, that a file is skipped.
func (c *condition) problem(file string, reason string) {
	text := notes.Quote(file) + ": " + reason
	c.Lock()
	defer c.Unlock()
	if slices.Contains(c.Problems, text) || len(c.Problems) >= maxListed {
		return
	}
	c.Problems = append(c.Problems, text)
	c.log.Warn("a file is not in step with the log", "file", file, "reason", reason)
}

func (c *condition) conflict(copied string) {
	c.Lock()
	defer c.Unlock()
	c.copies++
	c.Conflicts = append(c.Conflicts, copied)
	c.Conflicts = c.Conflicts[max(0, len(c.Conflicts)-maxListed):]
	c.log.Warn("a file was changed here and in the log; the log's version has its name, and this one is kept beside it", "copy", copied)
}

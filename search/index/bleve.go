package index

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	zap "github.com/blevesearch/zapx/v17"

	"notesd/notes"
)

// asyncErrorCallback is the name by which Bleve finds asyncError.
const asyncErrorCallback = "notesd/search"

// opened maps folders to open databases, for errors from Bleve's goroutines.
var opened sync.Map // string → *database

func init() {
	scorch.RegistryAsyncErrorCallbacks[asyncErrorCallback] = asyncError
	// Fewer new segments than this are saved without merging: those of a build are large, and a
	// flush combines the small ones.
	scorch.DefaultMinSegmentsForInMemoryMerge = 6
}

// saveRetry is the time that Bleve waits before it retries a save, for example on a full disk.
// Bleve itself retries without a pause.
const saveRetry = 2 * time.Second

// asyncError records an error of the Bleve goroutine that calls it, and delays that goroutine.
func asyncError(err error, dir string) {
	v, ok := opened.Load(dir)
	if !ok {
		return
	}
	d := v.(*database)
	msg := d.reason(err)
	if old := d.asyncErr.Swap(&msg); old == nil || *old != msg {
		d.log.Error("search index", "err", err)
	}
	wait := time.NewTimer(saveRetry)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-d.closing:
	}
}

// reason returns the cause in an error of Bleve: the text after its own prefixes, as in
// "source: merger, persist error: merging err: write …".
func (d *database) reason(err error) string {
	const label = "err: "
	msg := firstLine(err)
	if i := strings.LastIndex(msg, label); i >= 0 {
		msg = msg[i+len(label):]
	}
	return strings.ReplaceAll(msg, d.dir, filepath.Base(d.dir))
}

// PersistNap is the time in milliseconds that Bleve waits before it saves. Segments added
// meanwhile are merged in memory and written once. After a crash, the vault feeds the changes
// of this time again.
var PersistNap = 1500 // shorter in tests

// mergePlan makes Bleve keep about ten segments of the size that a build creates, and ten small
// ones: searching ten segments takes hardly longer than searching one, and merging would take a
// third of the time of a first index.
var mergePlan = map[string]any{
	"MaxSegmentsPerTier":   10,
	"MaxSegmentSize":       5_000_000, // in documents, like all of these
	"TierGrowth":           10.0,
	"SegmentsPerMergeTask": 10,
	"FloorSegmentSize":     500,
	"ReclaimDeletesWeight": 2.0,
}

// openBleve opens the index in dir and checks that it can be read. If damage makes Bleve panic,
// or the processor fault on a mapped file, it returns an error.
func openBleve(dir string, queue *index.AnalysisQueue) (s *scorch.Scorch, err error) {
	if err := checkKilled(dir); err != nil {
		return nil, err
	}
	idx, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path":         dir,
		"bolt_timeout": "50ms", // for another process to release its lock
		// A batch is visible when Batch returns and saved soon after. The position is saved
		// with it, so that changes lost in a crash are fed again.
		"unsafe_batch":           true,
		"asyncErrorCallbackName": asyncErrorCallback,
		"forceSegmentType":       zap.Type, // segmentPlugin
		"forceSegmentVersion":    int(zap.Version),
		"scorchPersisterOptions": map[string]any{"PersisterNapTimeMSec": PersistNap},
		"scorchMergePlanOptions": mergePlan,
	}, queue)
	if err != nil {
		return nil, err
	}
	s = idx.(*scorch.Scorch)
	_, notSaved := os.Stat(filepath.Join(dir, savedMark))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			closeQuietly(s)
			s = nil
		}
	}()
	if err := s.Open(); err != nil {
		if strings.Contains(err.Error(), "timeout") {
			return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
		}
		return nil, err
	}
	_ = os.WriteFile(filepath.Join(dir, openMark), nil, 0o600) // on a full disk only the check is lost
	return s, checkFormat(s, notSaved == nil)
}

// openMark is a file that exists while an index is open, and after the process was killed.
const openMark = "open"

// checkKilled reads all files of an index whose process was killed. If the disk cannot read a
// part of a file, a goroutine of Bleve that merges segments may have faulted, and would do so
// again.
func checkKilled(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, openMark)); err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeQuietly closes an index that failed to open and may be partly initialized.
func closeQuietly(s *scorch.Scorch) {
	defer func() { _ = recover() }()
	_ = s.Close()
}

var (
	errFormat = errors.New("it was made by another version")
	errLost   = errors.New("some of its files are missing or damaged")
)

// savedMark is a file that exists once an index with a position was saved. If Bleve cannot open
// the segments of an index, it falls back to an earlier state and finally to an empty one,
// which looks like a new index.
const savedMark = "saved"

// markSaved creates savedMark unless it exists.
func (d *database) markSaved() {
	name := filepath.Join(d.dir, savedMark)
	if _, err := os.Stat(name); err == nil {
		return
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		d.log.Warn("search index", "err", err)
	}
}

// checkFormat checks the version and loads the data of each segment that every search needs. It
// writes the version of a new index. saved reports whether savedMark exists.
func checkFormat(s *scorch.Scorch, saved bool) error {
	r, err := s.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	root := r.(*scorch.IndexSnapshot)
	format, err := root.GetInternal(keyFormat)
	if err != nil {
		return err
	}
	position, err := readPosition(root)
	if err != nil {
		return err
	}
	if saved && position.Seq == 0 {
		return errLost
	}
	if len(root.Segments()) == 0 && format == nil {
		return s.SetInternal(keyFormat, []byte(formatVersion))
	}
	if string(format) != formatVersion {
		return errFormat
	}
	for _, seg := range root.Segments() {
		if _, err := loadSegment(seg); err != nil {
			return err
		}
	}
	return nil
}

// encodePosition writes a position as "seq store".
func encodePosition(p notes.Position) []byte {
	return []byte(strconv.FormatUint(p.Seq, 10) + " " + p.Store)
}

func readPosition(r *scorch.IndexSnapshot) (p notes.Position, err error) {
	v, err := r.GetInternal(keyPosition)
	if err != nil || v == nil {
		return p, err
	}
	seq, store, ok := strings.Cut(string(v), " ")
	if ok {
		p.Store = store
		p.Seq, err = strconv.ParseUint(seq, 10, 64)
	}
	if !ok || err != nil {
		return notes.Position{}, fmt.Errorf("position %q is malformed", v)
	}
	return p, nil
}

package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"notesd/notes"
)

// space holds the vectors of one model for the current chunks, and the backlog of
// chunks without a vector. Index.mu guards it.
type space struct {
	model    int64 // row of models
	embedder Embedder
	slots    *slots
	entries  *entries
	chunks   map[int64]int    // number of chunks by note
	seqs     map[int64]uint64 // version of each note that changed since the load
	total    int              // number of chunks
	backlog  backlog
	surplus  []uint32  // slots to empty if they are still idle; used by Run only
	doomed   []slotKey // emptied slots whose rows are to be deleted; used by Run only
}

func newSpace(dir string, model int64, embedder Embedder) (*space, error) {
	slots, err := openSlots(slotPath(dir, embedder.ID()), embedder.ID(), embedder.Dim())
	if err != nil {
		return nil, err
	}
	return &space{model: model, embedder: embedder, slots: slots, entries: newEntries(embedder.Dim()),
		chunks: map[int64]int{}, seqs: map[int64]uint64{}, backlog: newBacklog()}, nil
}

// slotPath returns the path of the cache file of a model.
func slotPath(dir, model string) string {
	name := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, model)
	const longest = 100
	if name != model || len(name) > longest { // two models must not share a file
		sum := sha256.Sum256([]byte(model))
		name = fmt.Sprintf("%.*s-%x", longest, name, sum[:6])
	}
	return filepath.Join(dir, "vectors-"+name+".slots")
}

// remove closes the space and deletes its cache file.
func (s *space) remove(dir string) error {
	if err := s.slots.Close(); err != nil {
		return err
	}
	return os.Remove(slotPath(dir, s.embedder.ID()))
}

// apply applies the new version of a note; a nil note was deleted.
func (s *space) apply(id int64, note *notes.Note) {
	if note == nil {
		s.drop(id)
		s.backlog.remove(id)
	} else {
		s.set(note, edited)
	}
}

// set replaces the entries of a note. If chunks have no vector, it adds the note to
// the lane of the backlog. It ignores a version that is older than the current one,
// which Run may have read before a change.
func (s *space) set(n *notes.Note, l lane) {
	note := n.ID
	if n.Seq < s.seqs[note] {
		return
	}
	before := s.entries.take(note)
	s.total -= s.chunks[note]
	s.seqs[note] = n.Seq
	s.chunks[note] = len(n.Chunks)
	s.total += len(n.Chunks)
	missing := false
	for _, c := range n.Chunks {
		slot, ok := s.slots.find(keyOf(c.Hash))
		if !ok {
			missing = true
			continue
		}
		s.entries.add(note, c.Ordinal, slot, s.slots.vector(slot))
	}
	s.entries.removeRows(before)
	if missing {
		s.backlog.add(note, l)
	} else {
		s.backlog.remove(note)
	}
}

func (s *space) drop(note int64) {
	s.entries.remove(note)
	s.total -= s.chunks[note]
	delete(s.chunks, note)
	delete(s.seqs, note)
}

// missing returns the number of chunks of a note without a vector.
func (s *space) missing(note int64) int { return s.chunks[note] - len(s.entries.of[note]) }

// pending returns the number of chunks without a vector.
func (s *space) pending() int { return s.total - s.entries.len() }

// complete reports whether every chunk has a vector.
func (s *space) complete() bool { return s.pending() == 0 }

// keyOf returns the slot key of a hex hash.
func keyOf(hash string) slotKey {
	var k slotKey
	_, _ = hex.Decode(k[:], []byte(hash[:2*len(k)])) // hashes of the store are valid hex
	return k
}

// loadedChunk is a row of the chunks table.
type loadedChunk struct {
	note    int64
	ordinal int
	hash    []byte
}

// load fills the space with all chunks, ordered by note, and returns those whose
// vectors are missing from the cache file.
func (s *space) load(chunks []loadedChunk) (missing []loadedChunk) {
	s.entries = newEntries(s.embedder.Dim())
	s.entries.signs = make([]uint64, 0, len(chunks)*s.entries.words)
	for _, c := range chunks {
		s.chunks[c.note]++
		if slot, ok := s.slots.find(slotKey(c.hash[:len(slotKey{})])); ok {
			s.entries.add(c.note, c.ordinal, slot, s.slots.vector(slot))
		} else {
			missing = append(missing, c)
		}
	}
	s.total = len(chunks)
	for _, slot := range s.slots.all() {
		s.entries.users.offer(slot)
	}
	return missing
}

package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	leads    int              // number of notes with a lead
	backlog  backlog
	means    [][]float32 // of the passages in each language, see align
}

func newSpace(dir string, model int64, embedder Embedder) (*space, error) {
	slots, err := openSlots(slotPath(dir, embedder.ID()), embedder.ID(), embedder.Dim())
	if err != nil {
		return nil, err
	}
	entries := newEntries(embedder.Dim(), slots.vector)
	if c, ok := calibration(embedder); ok && c.Unit < 1 {
		entries.sure = sureClose
	}
	return &space{model: model, embedder: embedder, slots: slots, entries: entries,
		chunks: map[int64]int{}, seqs: map[int64]uint64{}, backlog: newBacklog()}, nil
}

// The names of cache files.
const (
	slotPrefix = "vectors-"
	slotSuffix = ".slots"
)

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
	return filepath.Join(dir, slotPrefix+name+slotSuffix)
}

// DeleteFiles deletes the cache files in dir. SQLite has their vectors.
func DeleteFiles(dir string) error { return deleteOthers(dir, nil) }

// deleteOthers deletes the cache files in dir that are of none of these spaces, however they
// were left.
func deleteOthers(dir string, spaces []*space) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	inUse := make(map[string]bool, len(spaces))
	for _, s := range spaces {
		inUse[slotPath(dir, s.embedder.ID())] = true
	}
	var errs []error
	for _, entry := range entries {
		name, path := entry.Name(), filepath.Join(dir, entry.Name())
		if strings.HasPrefix(name, slotPrefix) && strings.HasSuffix(name, slotSuffix) && !inUse[path] {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
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
	if note != nil {
		s.set(note, edited)
		return
	}
	s.entries.remove(id)
	s.count(id, 0)
	delete(s.chunks, id)
	delete(s.seqs, id)
	s.backlog.remove(id)
}

// set replaces the entries of a note. If chunks have no vector, it adds the note to
// the lane of the backlog. It ignores a version that is older than the current one,
// which Run may have read before a change.
func (s *space) set(n *notes.Note, l lane) {
	note := n.ID
	if n.Seq < s.seqs[note] {
		return
	}
	s.entries.remove(note)
	s.seqs[note] = n.Seq
	s.count(note, len(n.Chunks))
	missing := false
	if hash := leadOf(n); hash != "" {
		if slot, ok := s.slots.find(keyOf(hash)); ok {
			s.entries.leads[note] = slot
		} else {
			missing = true
		}
	}
	for _, c := range n.Chunks {
		slot, ok := s.slots.find(keyOf(c.Hash))
		if !ok {
			missing = true
			continue
		}
		s.entries.add(note, c.Ordinal, slot)
	}
	s.entries.grow()
	if missing {
		s.backlog.add(note, l)
	} else {
		s.backlog.remove(note)
	}
}

// missing returns the number of chunks and leads of a note without a vector.
func (s *space) missing(note int64) int {
	n := s.chunks[note] + leadsOf(s.chunks[note]) - len(s.entries.rowsOf[note])
	if _, ok := s.entries.leads[note]; ok {
		n--
	}
	return n
}

// count sets the number of chunks of a note.
func (s *space) count(note int64, chunks int) {
	before := s.chunks[note]
	s.total += chunks - before
	s.leads += leadsOf(chunks) - leadsOf(before)
	s.chunks[note] = chunks
}

// pending returns the number of chunks and leads without a vector.
func (s *space) pending() int { return s.total + s.leads - s.entries.len() - len(s.entries.leads) }

// complete reports whether every chunk has a vector. Leads only improve the order.
func (s *space) complete() bool { return s.total == s.entries.len() }

// leadsOf returns the number of leads of a note with this number of chunks. A note with a
// single chunk has none, because that chunk states the topic.
func leadsOf(chunks int) int { return min(1, chunks/2) }

// leadOf returns the hex hash that the lead's vector is kept under, or "" if the note
// has no lead.
func leadOf(n *notes.Note) string {
	if leadsOf(len(n.Chunks)) == 0 {
		return ""
	}
	first, _ := hex.DecodeString(n.Chunks[0].Hash) // hashes of the store are valid hex
	second, _ := hex.DecodeString(n.Chunks[1].Hash)
	return hex.EncodeToString(notes.LeadHash(first, second))
}

// keyOf returns the slot key of a hex hash.
func keyOf(hash string) slotKey {
	var k slotKey
	_, _ = hex.Decode(k[:], []byte(hash[:2*len(k)])) // hashes of the store are valid hex
	return k
}

// loadedChunk is a row of the chunks table, or a lead.
type loadedChunk struct {
	note    int64
	ordinal int // leadOrdinal: the lead
	hash    []byte
}

const leadOrdinal = -1

// withLeads returns all chunks, which are ordered by note and ordinal, and then the
// leads.
func withLeads(chunks []loadedChunk) []loadedChunk {
	chunks = slices.Clip(chunks)
	for i, c := range chunks {
		if c.ordinal == 1 {
			chunks = append(chunks, loadedChunk{c.note, leadOrdinal, notes.LeadHash(chunks[i-1].hash, c.hash)})
		}
	}
	return chunks
}

// unused returns the records of the cache file without a chunk or lead.
func (s *space) unused() []uint32 {
	return s.slots.unused(slices.AppendSeq(slices.Clone(s.entries.slot), maps.Values(s.entries.leads)))
}

// add makes a chunk with a vector searchable.
func (s *space) add(c loadedChunk, slot uint32) {
	if c.ordinal == leadOrdinal {
		s.entries.leads[c.note] = slot
		return
	}
	s.entries.add(c.note, c.ordinal, slot)
}

// load fills the space with all chunks and leads, and returns those whose
// vectors are missing from the cache file.
func (s *space) load(chunks []loadedChunk) (missing []loadedChunk) {
	for _, c := range chunks {
		if c.ordinal != leadOrdinal {
			s.count(c.note, s.chunks[c.note]+1)
		}
		if slot, ok := s.slots.find(slotKey(c.hash[:len(slotKey{})])); ok {
			s.add(c, slot)
		} else {
			missing = append(missing, c)
		}
	}
	s.entries.grow()
	return missing
}

package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Set is a judged set.
type Set struct {
	Docs       []Doc
	Queries    []Query
	Judgements map[string]map[string]int // query → document → grade; positive is relevant

	ids map[string]string // file name of the note without .md → document
}

// Doc is one document.
type Doc struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Query is one query.
type Query struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Load reads a judged set: documents and queries as one JSON object per line, judgements
// as tab-separated lines of query, document and grade (a header and the four columns of
// TREC are accepted). Errors include file and line.
func Load(docs, queries, judgements string) (*Set, error) {
	s := &Set{Judgements: map[string]map[string]int{}, ids: map[string]string{}}
	err := errors.Join(
		eachObject(docs, "document", func(d Doc) string { s.Docs = append(s.Docs, d); return d.ID }),
		eachObject(queries, "query", func(q Query) string { s.Queries = append(s.Queries, q); return q.ID }),
		eachLine(judgements, s.judge),
	)
	if err != nil {
		return nil, err
	}
	for i, d := range s.Docs {
		s.ids[noteName(i, d)] = d.ID
	}
	if len(s.ids) < len(s.Docs) {
		return nil, fmt.Errorf("%s: two documents have the same id", docs)
	}
	for _, q := range s.Queries {
		if len(s.relevant(q.ID)) > 0 {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: no query has a relevant document", judgements)
}

// judge parses one judgement. A line whose grade is not a number is a header.
func (s *Set) judge(line string) error {
	f := strings.Split(line, "\t")
	if len(f) < 3 {
		f = strings.Fields(line)
	}
	if len(f) == 4 {
		f = []string{f[0], f[2], f[3]}
	}
	if len(f) < 3 {
		return errors.New("want query, document and grade")
	}
	grade, err := strconv.ParseFloat(f[2], 64)
	if err != nil {
		return nil
	}
	if s.Judgements[f[0]] == nil {
		s.Judgements[f[0]] = map[string]int{}
	}
	s.Judgements[f[0]][f[1]] = int(grade)
	return nil
}

// eachObject decodes each line of a file and calls add, which returns the object's id.
func eachObject[T any](name, what string, add func(T) (id string)) error {
	return eachLine(name, func(line string) error {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return err
		}
		if add(v) == "" {
			return errors.New(what + ` without "id"`)
		}
		return nil
	})
}

// eachLine calls fn with the non-blank lines of a file.
func eachLine(name string, fn func(line string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" {
			if err := fn(text); err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// modified is the modification time of all notes, by which search orders equal scores, so that
// each run has the same result.
var modified = time.Unix(1_000_000_000, 0)

// WriteVault writes every document as a note: its title as a heading, then its text.
func (s *Set) WriteVault(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, d := range s.Docs {
		text := strings.TrimRight(d.Text, " \n") + "\n"
		if t := strings.TrimSpace(d.Title); t != "" {
			text = "# " + t + "\n\n" + text
		}
		name := filepath.Join(dir, noteName(i, d)+".md")
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, modified, modified)); err != nil {
			return err
		}
	}
	return nil
}

// noteName returns the file name of a document's note: its id, if that is a safe file
// name. The title is not used, because it would make the note easier to find.
func noteName(i int, d Doc) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if d.ID != "" && len(d.ID) <= 100 && strings.Trim(d.ID, safe) == "" {
		return d.ID
	}
	return "document-" + strconv.Itoa(i)
}

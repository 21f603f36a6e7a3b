package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"notesd/internal/markdown"
	"notesd/internal/session"
	"notesd/mcp"
	"notesd/mcp/tools"
	"notesd/search"
	"notesd/search/terms"
)

// A page is the data of every template.
type page struct {
	Title    string
	Vault    string
	Tab      string // the active entry of the menu
	Query    string
	Mode     string // of searches, if the address names one
	ReadOnly bool
	Live     bool // reload when something changes
	Changes  int  // number of changes when the page was built
	Refresh  int  // reload after this many milliseconds; 0 means never
	Data     any
}

var functions = template.FuncMap{
	"notePage": notePage,
	"escape":   escapePath,
	"stem":     func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) },
	"dir": func(p string) string {
		if d := path.Dir(p); d != "." {
			return d
		}
		return ""
	},
	// where isolates the names in a path, because those of folders in a script from right to
	// left would be shown in reverse order.
	"where": func(p string) template.HTML {
		return "<bdi>" + template.HTML(strings.ReplaceAll(template.HTMLEscapeString(p), "/", "</bdi>/<bdi>")) + "</bdi>" //nolint:gosec // escaped
	},
	"minute": minute,
	"marked": Marked,
	"join":   func(words []string) string { return strings.Join(words, ", ") },
	"tagged": tagQuery,
	"plain":  func(line string) string { return markdown.PlainText([]byte(line)) },
}

// tagQuery returns the query that finds the notes with a tag. In front matter, tags may
// contain spaces.
func tagQuery(tag string) string {
	if strings.Contains(tag, " ") {
		tag = `"` + tag + `"`
	}
	return "tag:" + tag
}

// minute formats the time of a result.
func minute(machine string) string {
	t, err := time.Parse(time.RFC3339, machine)
	if err != nil {
		return machine
	}
	return t.Local().Format("2006-01-02 15:04")
}

// write sends a page.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.Vault, p.ReadOnly, p.Mode = "notesd", s.o.ReadOnly, r.URL.Query().Get("mode")
	var admitted bool
	if p.Changes, admitted = r.Context().Value(changesKey{}).(int); admitted {
		p.Vault = s.o.Vault // others must not learn the name
	}
	var buf bytes.Buffer
	if err := s.templates[name].Execute(&buf, p); err != nil {
		s.o.Log.Error("write a page", "path", r.URL.Path, "error", err)
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the browser may have disconnected
}

// view returns a handler that sends the page which build returns, or the page for its
// error.
func (s *Server) view(name string, build func(*http.Request) (page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := build(r)
		if err != nil {
			s.trouble(w, r, err)
			return
		}
		s.write(w, r, http.StatusOK, name, p)
	}
}

// pageWords replaces the names of tools in messages by what the page has for them.
var pageWords = strings.NewReplacer(
	"search_notes finds", "The search finds",
	"restore_note brings it back. note_history has its versions.", "Its history brings it back.",
	". note_history has its versions", ". Its history has the versions", "note_history has its versions", "its history has the versions",
	"note_history shows", "The history shows", "note_history", "the history",
	"List them with list_notes folder=", "List them with the search folder:",
	"; read_note shows them:", ":",
)

// fail sends a page with an error, the remedy and the notes that may be meant. A note that is
// missing may appear later. One that was deleted has a history, and so has one whose change was
// not undone or whose version was not restored.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, what, next string, candidates ...string) {
	data := map[string]any{"What": what, "Next": next, "Candidates": candidates}
	if status == http.StatusNotFound && strings.HasPrefix(r.URL.Path, "/n/") || r.Method == http.MethodPost {
		data["Note"] = r.PathValue("path")
	}
	p := page{Title: http.StatusText(status), Live: r.Method == http.MethodGet, Data: data}
	if p.Live && status == http.StatusServiceUnavailable { // it may end without a change of the notes
		p.Refresh = 5000
	}
	s.write(w, r, status, "fail", p)
}

// statuses maps error codes to HTTP statuses.
var statuses = map[string]int{
	"not_found": http.StatusNotFound, "invalid": http.StatusBadRequest, "failed": http.StatusBadRequest, "too_large": http.StatusBadRequest,
	"ambiguous": http.StatusConflict, "exists": http.StatusConflict, "conflict": http.StatusConflict,
	"read_only": http.StatusForbidden, "forbidden": http.StatusForbidden,
	"unavailable": http.StatusServiceUnavailable, "busy": http.StatusServiceUnavailable, "timeout": http.StatusServiceUnavailable,
}

// statusOf returns the HTTP status for an error of the vault.
func statusOf(err error) int {
	var failure *session.Failure
	if !errors.As(err, &failure) {
		return http.StatusServiceUnavailable
	}
	return cmp.Or(statuses[failure.Code], http.StatusInternalServerError)
}

// trouble sends the page for an error of the vault: the message of a failure, which the
// user can act on, or a general one. It sends nothing if the browser canceled the
// request, as it does on each key typed in a search.
func (s *Server) trouble(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	if failure, ok := errors.AsType[*session.Failure](err); ok {
		what, next, candidates := pageWords.Replace(failure.Message), failure.Hint, failure.Candidates
		name := r.PathValue("path")
		if detail, ok := strings.CutPrefix(what, `find "`+noteURI(name)+`": `); ok {
			what = name + ": " + detail
		} else { // the candidates may be headings
			next, candidates = failure.Advice(), nil
		}
		s.fail(w, r, statusOf(err), what, pageWords.Replace(next), candidates...)
		return
	}
	s.o.Log.Warn("the page cannot ask the vault", "path", r.URL.Path, "error", err)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("there was no answer for %d seconds", int(answerWait.Seconds()))
	}
	s.fail(w, r, http.StatusServiceUnavailable, "The vault does not respond: "+err.Error(), "notesd status and notesd doctor have details.")
}

// search shows the hits for ?q=, or the newest notes without it.
func (s *Server) search(r *http.Request) (page, error) {
	query := strings.TrimSpace(r.FormValue("q"))
	p := page{Title: cmp.Or(query, "Search"), Tab: "search", Query: query, Live: true}
	if query == "" {
		var list tools.ListResult
		if err := s.vault.call(r.Context(), "list_notes", map[string]any{"sort": "modified", "limit": 20}, &list); err != nil {
			return page{}, err
		}
		p.Data = map[string]any{"Newest": list.Notes}
		return p, nil
	}
	mode := s.modeOf(r)
	args := map[string]any{"query": query, "mode": mode, "limit": 20, "explain": true}
	if cursor := r.FormValue("cursor"); cursor != "" {
		args["cursor"] = cursor
	}
	data := map[string]any{"Mode": mode, "Modes": []string{"hybrid", "text", "semantic"}}
	var result struct {
		tools.SearchResult
		Read search.Reading `json:"read"`
	}
	err := s.vault.call(r.Context(), "search_notes", args, &result)
	var failure *session.Failure
	switch {
	case errors.As(err, &failure) && statusOf(err) == http.StatusBadRequest: // probably an unfinished query
		data["Refused"] = failure.Message
	case err != nil:
		return page{}, err
	}
	for i, remark := range result.Notes {
		result.Notes[i] = pageWords.Replace(remark)
	}
	data["Result"] = result
	p.Data = data
	return p, nil
}

// modeOf returns the mode of a search, which its cursor and explanations depend on.
func (s *Server) modeOf(r *http.Request) string {
	return cmp.Or(r.FormValue("mode"), s.o.Mode, string(search.ModeHybrid))
}

// maxShown is the number of bytes of a note that its page shows. Rendering takes up to ninety
// times as much memory, and browsers take a long time for pages of this size.
const maxShown = 4 << 20

// longText is the number of bytes of HTML from which browsers lay out only the part of a note that is
// on the screen. Margins of blocks within blocks then add up, so shorter notes are laid out whole.
const longText = 256 << 10

// note shows one note with its links.
func (s *Server) note(r *http.Request) (page, error) {
	ref := r.PathValue("path")
	uri := noteURI(ref)
	var meta tools.ReadResult
	var links, linked tools.LinksResult // separately, because the size of a result is limited
	var near tools.RelatedResult
	var to destinations
	var source string
	watched := s.vault.watch(r.Context(), uri) // before reading it, so that no change is missed
	if errors.Is(watched, context.DeadlineExceeded) {
		return page{}, watched
	}
	ctx := r.Context()
	err := together(
		func() error {
			return s.vault.call(ctx, "read_note", map[string]any{"note": uri, "max_bytes": 1000}, &meta)
		},
		func() error {
			contents, err := s.vault.resource(ctx, uri)
			if err == nil {
				source = contents.Text
			}
			return err
		},
		func() error {
			return s.vault.call(ctx, "note_links", map[string]any{"note": uri, "direction": "out"}, &links)
		},
		func() error {
			return s.vault.call(ctx, "note_links", map[string]any{"note": uri, "direction": "in"}, &linked)
		},
		func() (err error) {
			to, err = s.vault.destinations(ctx, uri)
			return err
		},
		func() error {
			return s.vault.call(ctx, "related_notes", map[string]any{"note": uri, "limit": 6}, &near)
		},
	)
	if err := cmp.Or(err, watched); err != nil {
		return page{}, err
	}
	links.Backlinks, links.Next = linked.Backlinks, linked.Next
	to.note, to.embed = meta.Path, (&embedder{vault: s.vault}).of(r.Context(), []string{meta.Path})
	shown := terms.ClipTo(source, maxShown)
	text := render([]byte(shown), to)
	text.Direction = cmp.Or(direction([]byte(meta.Title)), text.Direction) // the title is the first heading
	return page{
		Title: meta.Title, Live: true,
		Data: map[string]any{"Note": meta, "Properties": propertiesOf(meta, to), "Text": text, "Long": len(text.HTML) > longText, "Cut": len(shown) < len(source), "Links": distinct(links), "Near": near.Related, "Titled": titled(text, meta.Title)},
	}, nil
}

// together runs the calls concurrently and returns the error of the first in the list that fails,
// so that the same failure is reported each time.
func together(calls ...func() error) error {
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() { errs[i] = call() })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// A property is a value of a note's front matter.
type property struct {
	Key   string
	Value any // template.HTML if it has links
}

// propertiesOf returns the front matter of a note, except its tags, which the page shows by
// themselves, sorted by key.
func propertiesOf(meta tools.ReadResult, to destinations) []property {
	delete(meta.FrontMatter, "tags")
	var all []property
	for _, key := range slices.Sorted(maps.Keys(meta.FrontMatter)) {
		text := valueText(meta.FrontMatter[key])
		p := property{key, text}
		if strings.Contains(text, "[[") || strings.Contains(text, "://") {
			p.Value = render([]byte(text), to).HTML
		}
		all = append(all, p)
	}
	return all
}

// valueText formats a JSON value as a person writes it; objects remain JSON.
func valueText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = valueText(item)
		}
		return strings.Join(items, ", ")
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the template escapes it
	_ = enc.Encode(value)    // cannot fail: it was decoded from JSON
	return strings.TrimSpace(b.String())
}

// titled reports whether the first heading of a note is its title.
func titled(text rendered, title string) bool {
	return len(text.Outline) > 0 && text.Outline[0].Level == 1 && text.Outline[0].Text == title
}

// distinct removes repeated targets from the outgoing links.
func distinct(links tools.LinksResult) tools.LinksResult {
	seen := map[string]bool{}
	out := links.Outgoing[:0]
	for _, l := range links.Outgoing {
		if !seen[l.Path] {
			seen[l.Path] = true
			out = append(out, l)
		}
	}
	links.Outgoing = out
	return links
}

func noteURI(notePath string) string { return "note:///" + escapePath(notePath) }

// file sends a file of the vault that is not a note. Anything but a picture is sent as a
// download, so that nothing in the vault can execute in this origin.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	contents, err := s.vault.resource(r.Context(), noteURI(name))
	if err != nil {
		s.trouble(w, r, err)
		return
	}
	body := contents.Blob
	if body == nil {
		body = []byte(contents.Text)
	}
	h := w.Header()
	h.Set("Content-Type", cmp.Or(contents.MIMEType, "application/octet-stream"))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox") // an SVG contains styles and may contain scripts
	if !picture(name) {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// A Part of a text is a word that matches a query's term, or the text between such words.
type Part struct {
	Text string
	Mark bool
}

// maxEnding is the length in bytes of the ending that a word may have after a term.
const maxEnding = 4

// Marked splits a text into parts. A query's word matches words that start with it and, in a
// script without spaces between words, wherever it occurs. Case and accents are ignored, as in
// the search. A word with an asterisk matches longer words as well.
func Marked(text string, words []string) (parts []Part) {
	low, offsets := folded(text)
	words = slices.Clone(words)
	for i, word := range words {
		words[i], _ = folded(word)
	}
	last, before := 0, ' '
	for at, r := range low {
		spaced := !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		inside := spaced && inWord(before)
		before = r
		if at < last || inside {
			continue
		}
		end, most := at, maxEnding
		for _, word := range words {
			start, open := strings.CutSuffix(word, "*")
			if strings.HasPrefix(low[at:], start) {
				end = max(end, at+len(start))
				if open {
					most = len(low)
				}
			}
		}
		ending := 0
		if spaced {
			ending = len(low[end:]) - len(strings.TrimLeftFunc(low[end:], inWord))
		}
		if end == at || ending > most {
			continue
		}
		end += ending
		parts = append(parts, Part{text[offsets[last]:offsets[at]], false}, Part{text[offsets[at]:offsets[end]], true})
		last = end
	}
	return append(parts, Part{text[offsets[last]:], false})
}

// folded returns a text as the search compares it and, for each of its bytes and its end, the
// offset of that character in text.
func folded(text string) (low string, offsets []int) {
	var b strings.Builder
	for at, r := range text {
		n, _ := b.WriteString(terms.FoldRune(r))
		for range n {
			offsets = append(offsets, at)
		}
	}
	return b.String(), append(offsets, len(text))
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// status shows the status of the daemon.
func (s *Server) status(r *http.Request) (page, error) {
	var report struct {
		Version, Vault, State, Log string
		Daemon                     struct{ PID, Clients int }
		Notes                      int
		Index                      struct {
			Seq, Head int
			Ready     bool
		}
		Semantic struct {
			Model, State     string
			Chunks, Embedded int
		}
		Watcher struct {
			State       string
			Directories int
		}
		Skipped struct {
			Total int
			Files []struct{ Path, Reason string }
		}
		Clients  []mcp.Client
		Warnings []string
	}
	if err := s.vault.method(r.Context(), mcp.MethodStatus, map[string]any{}, &report); err != nil {
		return page{}, err
	}
	// Clients come and go, and the index is built, without a change of the notes.
	return page{Title: "Status", Tab: "status", Live: true, Data: report, Refresh: 2000}, nil
}

// graph shows the canvas on which graph.js draws the links.
func (s *Server) graph(r *http.Request) (page, error) {
	return page{Title: "Graph", Tab: "graph", Data: map[string]any{"Note": r.FormValue("note"), "Depth": cmp.Or(r.FormValue("depth"), "2")}}, nil
}

// graphData sends the whole graph as JSON: nodes with path and title, and links as pairs
// of node indexes.
func (s *Server) graphData(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if err := s.vault.method(r.Context(), mcp.MethodGraph, map[string]any{}, &raw); err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

// why explains the rank of ?note= among the hits of ?q=.
func (s *Server) why(r *http.Request) (page, error) {
	query := strings.TrimSpace(r.FormValue("q"))
	var explained struct {
		Path, Title, Mode string
		search.Explanation
	}
	explained.Mode = s.modeOf(r)
	params := map[string]any{"note": noteURI(r.FormValue("note")), "query": query, "mode": explained.Mode}
	if err := s.vault.method(r.Context(), mcp.MethodWhy, params, &explained); err != nil {
		return page{}, err
	}
	return page{Title: "Why " + explained.Title, Query: query, Data: explained}, nil
}

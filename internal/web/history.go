package web

import (
	"net/http"
	"strconv"
	"strings"

	"notesd/mcp/tools"
)

// A change is a version in the list of changes.
type change struct {
	version
	CanUndo bool // see changesOf
}

type version = tools.Revision // embedded under this name, it does not hide its field Revision

// A diffLine is a line of a unified diff with its CSS class.
type diffLine struct{ Class, Text string }

// diffLines splits a unified diff into lines.
func diffLines(diff string) []diffLine {
	var lines []diffLine
	for line := range strings.Lines(diff) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "@@"):
			class = "at"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		lines = append(lines, diffLine{class, line})
	}
	return lines
}

// versions calls note_history with the cursor of the request.
func (s *Server) versions(r *http.Request, args map[string]any) (result tools.HistoryResult, err error) {
	args["limit"] = 50
	if cursor := r.FormValue("cursor"); cursor != "" {
		args["cursor"] = cursor
	}
	err = s.vault.call(r.Context(), "note_history", args, &result)
	return result, err
}

// history lists the versions of a note. With ?a= and ?b=, it shows the diff between two
// of them.
func (s *Server) history(r *http.Request) (page, error) {
	path := r.PathValue("path")
	result, err := s.versions(r, map[string]any{"note": path})
	if err != nil {
		return page{}, err
	}
	newest := result // a restore compares its hash with the note
	if r.FormValue("cursor") != "" {
		newest = tools.HistoryResult{}
		if err := s.vault.call(r.Context(), "note_history", map[string]any{"note": path, "limit": 1}, &newest); err != nil {
			return page{}, err
		}
		result.Revisions = append(newest.Revisions, result.Revisions...) // an older page compares with it
	}
	data := map[string]any{"Path": path, "Revisions": result.Revisions, "Newest": append(newest.Revisions, tools.Revision{})[0], "Next": result.Next, "From": 0, "To": 0}
	from, errFrom := strconv.Atoi(r.FormValue("a"))
	to, errTo := strconv.Atoi(r.FormValue("b"))
	compare := errFrom == nil && errTo == nil
	if compare {
		from, to = min(from, to), max(from, to)
		var compared tools.HistoryResult
		if err := s.vault.call(r.Context(), "note_history", map[string]any{"note": path, "diff": []int{from, to}}, &compared); err != nil {
			return page{}, err
		}
		data["From"], data["To"], data["Diff"] = from, to, diffLines(compared.Diff)
	}
	return page{Title: "History of " + path, Live: !compare, Data: data}, nil
}

// restore makes an earlier version the current one, if the note still has the hash in
// the form.
func (s *Server) restore(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	n, err := strconv.ParseInt(r.PostFormValue("revision"), 10, 64)
	if err != nil {
		s.fail(w, r, http.StatusBadRequest, "the form names no revision", "Go back to the history of the note.")
		return
	}
	s.bringBack(w, r, path, n, r.PostFormValue("hash"), notePage)
}

// bringBack makes a revision of a note the current one, if the note still has the hash,
// and redirects to next for its path. An empty hash matches any.
func (s *Server) bringBack(w http.ResponseWriter, r *http.Request, path string, revision int64, hash string, next func(path string) string) {
	args := map[string]any{"note": path, "revision": revision}
	if hash != "" {
		args["expected_hash"] = hash
	}
	var done struct{ Path string }
	if err := s.vault.restore(r.Context(), args, &done); err != nil {
		s.trouble(w, r, err)
		return
	}
	http.Redirect(w, r, next(done.Path), http.StatusSeeOther)
}

// changes lists the changes of the vault, newest first.
func (s *Server) changes(r *http.Request) (page, error) {
	result, err := s.versions(r, map[string]any{})
	if err != nil {
		return page{}, err
	}
	return page{
		Title: "Changes", Tab: "changes", Live: true,
		Data: map[string]any{"Revisions": changesOf(result.Revisions), "Next": result.Next},
	}, nil
}

// changesOf returns the revisions, which must be newest first. CanUndo is set for those that are
// the newest of their note and were made by notesd or have an earlier text to restore.
func changesOf(revisions []tools.Revision) (changes []change) {
	seen := map[string]bool{}
	for _, r := range revisions {
		changes = append(changes, change{r, !seen[r.Path] && (r.Change > 0 || r.Operation == "edit" || r.Operation == "delete")})
		seen[r.Path] = true
	}
	return changes
}

// undo reverts a change in every note that it affected or, for a revision by another
// program that is still the newest, restores the version before it.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	if change, err := strconv.Atoi(r.PostFormValue("change")); err == nil && change > 0 {
		var done struct{ Conflicts []string }
		if err := s.vault.restore(r.Context(), map[string]any{"change": change}, &done); err != nil {
			s.trouble(w, r, err)
		} else if len(done.Conflicts) > 0 {
			s.fail(w, r, http.StatusConflict, "Undone, except in notes that were changed since: "+strings.Join(done.Conflicts, ", "), "Their histories have the versions.")
		} else {
			http.Redirect(w, r, "/changes", http.StatusSeeOther)
		}
		return
	}
	var result tools.HistoryResult
	if err := s.vault.call(r.Context(), "note_history", map[string]any{"note": path, "limit": 2}, &result); err != nil {
		s.trouble(w, r, err)
		return
	}
	isShown := func(newest tools.Revision) bool { // by its number, or as a text that had none before note_history was called
		n := r.PostFormValue("revision")
		return n == strconv.FormatInt(newest.Revision, 10) || n == "0" && newest.Hash == r.PostFormValue("hash")
	}
	if len(result.Revisions) < 2 || !isShown(result.Revisions[0]) {
		s.fail(w, r, http.StatusConflict, path+" was changed since.", "Its history has the versions.")
		return
	}
	s.bringBack(w, r, path, result.Revisions[1].Revision, result.Revisions[0].Hash, func(string) string { return "/changes" })
}

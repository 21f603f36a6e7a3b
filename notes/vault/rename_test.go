package vault

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// TestRenameHeadingInCanvases checks that the heading shown by a canvas node is renamed,
// and that nothing else in the canvas changes.
func TestRenameHeadingInCanvases(t *testing.T) {
	canvas := "{\"nodes\":[\n {\"subpath\":\"#Old name\", \"type\":\"file\",\"file\":\"Plan.md\"},\n {\"file\":\"Plan.md\",\"subpath\" : \"#Plan#Old name\"}, {\"file\":\"Plan.md\"},\n" +
		" {\"file\":\"Other.md\",\"subpath\":\"#Old name\"}, {\"type\":\"text\",\"text\":\"#Old name\"}, {\"file\":\"Plan.md\",\"subpath\":\"#^b\",\"meta\":{\"subpath\":\"#Old name\"}}\n],\n\"edges\":[]}\n"
	broken := `{"nodes":[{"file":"Plan.md"`
	f := newFixture(t, "Plan.md", "# Plan\n## Old name\ntext ^b\n", "Other.md", "# Old name\n", "sub/B.canvas", canvas, "Broken.canvas", broken, "T.base", "filters: file.path == \"Plan.md\"\n", "C.canvas", `{"nodes":[]}`)
	w, err := f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: []notes.Edit{{Op: "rename_heading", Heading: "Old name", New: "New: \"name\""}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"sub/B.canvas"}, w.Relinked)
	assert.Equal(t, []string{"Broken.canvas"}, w.Left)
	assert.Equal(t, strings.NewReplacer(`{"subpath":"#Old name", "type"`, `{"subpath":"#New \"name\"", "type"`, `"#Plan#Old name"`, `"#Plan#New \"name\""`).Replace(canvas), f.onDisk("sub/B.canvas"))
	assert.Equal(t, broken, f.onDisk("Broken.canvas"))
	f.requireConsistent()

	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err)
	assert.Equal(t, canvas, f.onDisk("sub/B.canvas"), "undone with the heading")
}

func TestRenameHeadingMovesLinks(t *testing.T) {
	f := newFixture(t,
		"Plan.md", "# Plan\n## Old name\n[[#Old name]] [self](#old-name) [[Plan#Plan#Old name|x]]\n### Part\n# Other\n## Old name\n",
		"A.md", "---\nup: \"[[Plan#Old name]]\"\n---\n[[Plan#Old name|alias]] ![[Plan#old NAME]] [x](Plan.md#old-name) [y](<Plan.md#Old name>) [z](Plan.md#Old%20name)\n",
		"sub/B.md", "| [[Plan#Old name\\|a]] | [[Plan#Old name#Part]] |\n`[[Plan#Old name]]` [[Other#Old name]] [[Plan#Other#Old name]] [[Plan#Other]] [[Plan#^b]] [[Plan]]\r\n",
		"sub/Other.md", "# Old name\n[[#Old name]]\n", "C.md", "[[Plan]]\n")
	edits := []notes.Edit{{Op: "rename_heading", Heading: "Plan > Old name", New: "New: *name*"}}

	dry, err := f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: edits, DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"A.md", "sub/B.md"}, dry.Relinked)
	assert.Contains(t, f.onDisk("Plan.md"), "## Old name\n[[#Old")

	done, err := f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: edits})
	require.NoError(t, err)
	assert.Equal(t, []string{"A.md", "sub/B.md"}, done.Relinked)
	assert.Equal(t, "# Plan\n## New: *name*\n[[#New name]] [self](#new-name) [[Plan#Plan#New name|x]]\n### Part\n# Other\n## Old name\n", f.onDisk("Plan.md"))
	assert.Equal(t, "---\nup: \"[[Plan#New name]]\"\n---\n[[Plan#New name|alias]] ![[Plan#New name]] [x](Plan.md#new-name) [y](<Plan.md#New name>) [z](Plan.md#New%20name)\n", f.onDisk("A.md"))
	assert.Equal(t, "| [[Plan#New name\\|a]] | [[Plan#New name#Part]] |\n`[[Plan#Old name]]` [[Other#Old name]] [[Plan#Other#Old name]] [[Plan#Other]] [[Plan#^b]] [[Plan]]\r\n", f.onDisk("sub/B.md"))
	assert.Equal(t, "# Old name\n[[#Old name]]\n", f.onDisk("sub/Other.md"))
	f.requireConsistent()
	assert.Equal(t, []string{"Plan#^b"}, f.broken("sub/B.md"))
	assert.Empty(t, f.broken("A.md"))
	assert.Empty(t, f.broken("Plan.md"))

	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: []notes.Edit{{Op: "rename_heading", Heading: "Plan", New: "P"}, {Op: "rename_heading", Heading: "P", New: "Q"}}})
	require.NoError(t, err)
	assert.Contains(t, f.onDisk("Plan.md"), "# Q\n")
	assert.Contains(t, f.onDisk("Plan.md"), "[[Plan#Q#New name|x]]", "through both renames")

	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: []notes.Edit{{Op: "rename_heading", Heading: "New name", New: "Z"}}, Scope: notes.Scope{Write: []string{"Plan.md", "A.md"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.NotContains(t, f.onDisk("Plan.md"), "Z", "nothing was changed")
	domainError(t, err)
}

// TestRenameHeading_Namesakes checks that links lead to the same headings after a heading gets
// the name of another, and that a rename after which none could is refused.
func TestRenameHeading_Namesakes(t *testing.T) {
	f := newFixture(t,
		"Plan.md", "# \n# One\n## Notes\n# Two\n## Risks\n### Part\n# Risks and all\n",
		"A.md", "[[Plan#Notes]] [[Plan#Risks]] [[Plan#Risks#Part]] [n](Plan.md#notes) [r](Plan.md#risks) [[Plan#Part]]\n", "D.md", "[[Plan]] [[Plan#]]\n",
		"C.canvas", `{"nodes":[{"file":"Plan.md","subpath":"#Risks"}]}`)
	rename := func(heading, to string) error {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: []notes.Edit{{Op: "rename_heading", Heading: heading, New: to}}})
		return err
	}
	require.NoError(t, rename("Notes", "Risks"))
	assert.Equal(t, "[[Plan#Risks]] [[Plan#Two#Risks]] [[Plan#Risks#Part]] [n](Plan.md#risks) [r](Plan.md#risks-1) [[Plan#Part]]\n", f.onDisk("A.md"))
	assert.Contains(t, f.onDisk("C.canvas"), `"subpath":"#Two#Risks"`)
	require.NoError(t, rename("Two > Risks", "Dangers"))
	assert.Equal(t, "[[Plan#Risks]] [[Plan#Two#Dangers]] [[Plan#Dangers#Part]] [n](Plan.md#risks) [r](Plan.md#dangers) [[Plan#Part]]\n", f.onDisk("A.md"))
	f.write("Three.md", "# X\n## Notes\n# Notes\n# Notes\n[a](#notes) [b](#notes-1) [c](#notes-2)\n")
	f.write("B.md", "[[Plan#Two]]\n")
	f.reconcile()
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Three", Edits: []notes.Edit{{Op: "rename_heading", Heading: "X > Notes", New: "Ideas"}}})
	require.NoError(t, err)
	assert.Equal(t, "# X\n## Ideas\n# Notes\n# Notes\n[a](#ideas) [b](#notes) [c](#notes-1)\n", f.onDisk("Three.md"))
	before := f.files()
	err = rename("Two", "One")
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.Contains(t, domainError(t, err).Error(), `a link in "B.md" to "Two" would lead to another heading of that name`)
	assert.Equal(t, before, f.files())
	f.requireConsistent()
}

func TestRenameTagInAllNotes(t *testing.T) {
	f := newFixture(t,
		"A.md", "---\ntags: [work, \"x\"] # c\n---\n#Work/urgent and `#work`\n",
		"B.md", "no tags, but work\n", "C.md", "#working #work\r\n", "sub/D.md", "tags:: work, y\n", "Private/E.md", "#work\n")
	request := notes.RenameTagRequest{Tag: "#work", To: "job/main", DryRun: true, RequestKey: "k1"}
	dry, err := f.RenameTag(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, "A.md", dry.Path)
	assert.Equal(t, []string{"C.md", "Private/E.md", "sub/D.md"}, dry.Relinked)
	assert.Contains(t, dry.Diff, "+#job/main/urgent")
	assert.Contains(t, f.onDisk("C.md"), "#work\r\n")

	request.DryRun = false
	done, err := f.RenameTag(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, dry.Relinked, done.Relinked)
	want := map[string]string{
		"A.md": "---\ntags: [job/main, \"x\"] # c\n---\n#job/main/urgent and `#work`\n", "B.md": "no tags, but work\n",
		"C.md": "#working #job/main\r\n", "sub/D.md": "tags:: job/main, y\n", "Private/E.md": "#job/main\n",
	}
	assert.Equal(t, want, f.files())
	f.requireConsistent()
	again, err := f.RenameTag(t.Context(), request)
	require.NoError(t, err, "a repeated request has its answer")
	assert.Equal(t, done.Relinked, again.Relinked)

	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "job/main", To: "work"})
	require.NoError(t, err, "and back")
	assert.Equal(t, "---\ntags: [work, \"x\"] # c\n---\n#work/urgent and `#work`\n", f.onDisk("A.md"))

	f.write("F.md", "---\ntags:\n  - old words\n---\n")
	f.reconcile()
	done, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "old words", To: "old-words"})
	require.NoError(t, err, "a tag as other programs write it")
	assert.Equal(t, "F.md", done.Path)
	assert.Equal(t, "---\ntags:\n  - old-words\n---\n", f.onDisk("F.md"))

	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "wrk", To: "job"})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.ErrorContains(t, err, `near: "work"`)
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "two words"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "job", Scope: notes.Scope{Write: []string{"sub"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.Contains(t, f.onDisk("sub/D.md"), "work", "all or none")
	done, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "job", Scope: notes.Scope{Read: []string{"sub"}}})
	require.NoError(t, err)
	assert.Equal(t, "sub/D.md", done.Path)
	assert.Empty(t, done.Relinked, "only what the caller may read")
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "job", Scope: notes.Scope{ReadOnly: true}})
	require.ErrorIs(t, err, notes.ErrReadOnly)
}

// Links to headings that have the tag follow it, in notes without the tag and in canvases too.
func TestRenameTag_InHeadings(t *testing.T) {
	f := newFixture(t,
		"Plan.md", "# Plan #work\n## Notes #work\n### Part #work/x\n# Other\n[[#Notes work]] [[Plan#Plan work#Notes work#Part work x]]\n",
		"sub/Q.md", "tags #work\n# Q #work\n[p](../Plan.md#notes-work) [[Plan#Other]] [[Q#Q work]]\n",
		"A.md", "[[Plan#Notes work|n]] [x](Plan.md#notes-work) [[sub/Q#Q work]] [[Plan#Gone work]]\n",
		"B.canvas", `{"nodes":[{"file":"Plan.md","subpath":"#Notes work"},{"type":"text","text":"#work [[Plan#Notes work]]"},{"file":"A.md","subpath":"#Notes work"}]}`)
	before := f.files()
	request := notes.RenameTagRequest{Tag: "work", To: "job", DryRun: true}
	dry, err := f.RenameTag(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, []string{"sub/Q.md", "A.md", "B.canvas"}, dry.Relinked)
	assert.Equal(t, before, f.files())

	request.DryRun = false
	done, err := f.RenameTag(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, dry.Relinked, done.Relinked)
	after := map[string]string{
		"Plan.md":  "# Plan #job\n## Notes #job\n### Part #job/x\n# Other\n[[#Notes job]] [[Plan#Plan job#Notes job#Part job/x]]\n",
		"sub/Q.md": "tags #job\n# Q #job\n[p](../Plan.md#notes-job) [[Plan#Other]] [[Q#Q job]]\n",
		"A.md":     "[[Plan#Notes job|n]] [x](Plan.md#notes-job) [[sub/Q#Q job]] [[Plan#Gone work]]\n",
		"B.canvas": `{"nodes":[{"file":"Plan.md","subpath":"#Notes job"},{"type":"text","text":"#job [[Plan#Notes job]]"},{"file":"A.md","subpath":"#Notes work"}]}`,
	}
	assert.Equal(t, after, f.files())
	assert.Equal(t, []string{"Plan#Gone work"}, f.broken("A.md"))
	assert.Empty(t, f.broken("Plan.md"))
	f.requireUndone(done, before, after)

	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "job", To: "work", Scope: notes.Scope{Write: []string{"Plan.md", "sub"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	assert.Contains(t, domainError(t, err).Error(), `links in "A.md" would have to change`)
	assert.Equal(t, after, f.files())
	f.requireConsistent()

	f = newFixture(t, "Plan.md", "# Notes #new\n# Notes #old\n[[Plan#Notes old]]\n")
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "old", To: "new"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.Equal(t, "Nothing was changed. Change the heading with replace_text, and those links will be broken.", domainError(t, err).Hint)
}

// A move that changes a link in a heading renames the heading, and links to it follow.
func TestMove_LinksInHeadings(t *testing.T) {
	board := func(h, heading, m string) string {
		return `{"nodes":[{"file":"` + m + `","subpath":"#` + heading + `"},{"type":"text","text":"[[M#` + heading + `]] [[` + h + `]]"}]}`
	}
	files := func(h, heading, slug, folder string) map[string]string {
		m := strings.TrimPrefix(folder+"/M.md", "/")
		return map[string]string{
			h + ".md": "# H\n[[M#" + heading + "]]\n", m: "## See [[" + h + "]]\n[[#" + heading + "]] [[" + h + "#H]]\n",
			"N.md":     "[[M#" + heading + "]] [x](" + m + "#" + slug + ") [[M#Nope]]\n",
			"b.canvas": board(h, heading, m),
		}
	}
	before := files("H", "See H", "see-h", "A")
	var list []string
	for name, text := range before {
		list = append(list, name, text)
	}
	f := newFixture(t, list...)
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"A/M.md", "N.md", "b.canvas"}, w.Relinked)
	after := files("Hub", "See Hub", "see-hub", "A")
	assert.Equal(t, after, f.files())
	assert.Equal(t, []string{"M#Nope"}, f.broken("N.md"))
	f.requireUndone(w, before, after)

	undone := newFixture(t, list...)
	w, err = undone.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.NoError(t, err)
	undone.write("N.md", after["N.md"]+"More.\n")
	undone.write("New.md", "[[M#See Hub]]\n")
	undone.write("b.canvas", strings.Replace(after["b.canvas"], "text\":\"", "text\":\"More. ", 1))
	undone.reconcile()
	w, err = undone.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err)
	assert.Empty(t, w.Conflicts)
	want := maps.Clone(before)
	want["N.md"] += "More.\n"
	want["New.md"] = "[[M#See H]]\n"
	want["b.canvas"] = strings.Replace(before["b.canvas"], "text\":\"", "text\":\"More. ", 1)
	assert.Equal(t, want, undone.files())

	f.write("A/Other.md", "[o](M.md#see-hub)\n")
	f.write("A/M.md", strings.ReplaceAll(after["A/M.md"], "[[Hub", "[[../Hub"))
	f.reconcile()
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "A/", To: "B/C", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "## See [[../../Hub]]\n[[#See ../../Hub]] [[../../Hub#H]]\n", f.onDisk("B/C/M.md"))
	assert.Empty(t, f.broken("B/C/Other.md"))
	assert.Empty(t, f.broken("B/C/M.md"))
	assert.Equal(t, []string{"M#Nope"}, f.broken("N.md"))
	f.requireConsistent()

	f = newFixture(t, "H.md", "h\n", "M.md", "# [[H]]\n# Top\n## Hub\n", "N.md", "[[M#Hub]]\n")
	before = f.files()
	w, err = f.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[[M#Top#Hub]]\n", f.onDisk("N.md"))
	f.requireUndone(w, before, f.files())

	f = newFixture(t, "H.md", "h\n", "M.md", "# [[H]]\n", "N.md", "n\n")
	w, err = f.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.NoError(t, err)
	f.write("M.md", "# [[Hub]]\n# H\n")
	f.write("N.md", "[[M#H]] [[Hub]]\n")
	f.reconcile()
	w, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err)
	assert.Equal(t, []string{"N.md"}, w.Conflicts)
	assert.Equal(t, "# [[H]]\n# H\n", f.onDisk("M.md"))

	f = newFixture(t, "H.md", "h\n", "M.md", "# [[H]]\n# Hub\n", "N.md", "[[M#Hub]]\n")
	before = f.files()
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.Contains(t, domainError(t, err).Error(), `a link in "N.md" to "Hub" would lead to another heading of that name`)
	assert.Contains(t, domainError(t, err).Hint, "If you move with update_links false")
	assert.Equal(t, before, f.files())
}

// Obsidian's anchor of a heading with an alias contains the target, too.
func TestMove_AliasInHeading(t *testing.T) {
	files := func(h string) map[string]string {
		return map[string]string{h + ".md": "x\n", "M.md": "## See [[" + h + "|home]]\n## Go [there](" + h + ".md)\n",
			"N.md": "[[M#See " + h + " home]] [[M#See home]] [[M#see home]] [x](M.md#see-home) [[M#Go there]]\n"}
	}
	before := files("H")
	f := newFixture(t, "H.md", before["H.md"], "M.md", before["M.md"], "N.md", before["N.md"])
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "H", To: "Hub.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, files("Hub"), f.files())
	assert.Empty(t, f.broken("N.md"))
	f.requireUndone(w, before, files("Hub"))
}

// Cards of canvases follow a renamed tag; bases, whose formulas may compare it, are named.
func TestRenameTag_CanvasesAndBases(t *testing.T) {
	canvas := func(tag string) string {
		return `{"nodes":[{"file":"a #work.md","type":"text","text":"\n` + tag + ` done"}]}`
	}
	bases := map[string]string{
		"Has.base": `filters: file.hasTag("work")` + "\n", "Nested.base": "filters: tags.contains('Work/urgent')\n",
		"Hash.base": "formulas:\n  a: tags == \"#work\"\n", "Word.base": "views:\n  - name: work, 'working'\n",
	}
	f := newFixture(t, "A.md", "#work\n", "B.canvas", canvas("#Work/urgent"), "Broken.canvas", `{"nodes":[ #work`, "Other.canvas", `{"nodes":[ #working`, "Has.base", bases["Has.base"], "Nested.base", bases["Nested.base"], "Hash.base", bases["Hash.base"], "Word.base", bases["Word.base"])
	done, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "work", To: "job"})
	require.NoError(t, err)
	assert.Equal(t, "A.md", done.Path)
	assert.Equal(t, []string{"B.canvas"}, done.Relinked)
	assert.Equal(t, []string{"Broken.canvas", "Has.base", "Hash.base", "Nested.base"}, done.Left)
	assert.Equal(t, canvas("#job/urgent"), f.onDisk("B.canvas"))

	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	assert.Equal(t, canvas("#Work/urgent"), f.onDisk("B.canvas"))
	assert.Equal(t, "#work\n", f.onDisk("A.md"))
}

// A rename interrupted at any step is completed or not done at all.
func TestRename_Crash(t *testing.T) {
	for step := 1; ; step += stepsApart() {
		f := newFixture(t, "A.md", "#old\n", "B.md", "#old/x\n", "C.md", "# H\n[[D#Two]]\n", "D.md", "# Two\n")
		count := 0
		f.failpoint = func(string) error {
			if count++; count == step {
				return errKilled
			}
			return nil
		}
		_, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "old", To: "new"})
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errKilled)
		f.restart()
		files := f.files()
		assert.Equal(t, strings.Contains(files["A.md"], "new"), strings.Contains(files["B.md"], "new"), "killed at step %d", step)
		f.requireConsistent()
	}
}

// The oracle shares no code with notesd: it replaces texts that the generator made unique.
func TestRenamesAgainstAnOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range notestest.Rounds(30) {
		before := map[string]string{}
		files := map[string]string{}
		var list []string
		for n := range 5 {
			var b strings.Builder
			for range 6 {
				switch r.IntN(8) {
				case 0:
					fmt.Fprintf(&b, "## Head %d\n", r.IntN(4))
				case 1:
					fmt.Fprintf(&b, "text [[N%d#Head %d]] end\n", r.IntN(5), r.IntN(4))
				case 2:
					fmt.Fprintf(&b, "[t](N%d.md#head-%d)\n", r.IntN(5), r.IntN(4))
				case 3:
					fmt.Fprintf(&b, "- [ ] do #tag%d #tag%d/sub\n", r.IntN(3), r.IntN(3))
				case 4:
					fmt.Fprintf(&b, "[[#Head %d|alias]]\n", r.IntN(4))
				case 5:
					fmt.Fprintf(&b, "```\n[[N%d#Head %d]] #tag%d\n```\n", r.IntN(5), r.IntN(4), r.IntN(3))
				case 6:
					fmt.Fprintf(&b, "![[N%d#Head %d]], #Tag%d.\n", r.IntN(5), r.IntN(4), r.IntN(3))
				default:
					b.WriteString("words\n")
				}
			}
			name := fmt.Sprintf("N%d.md", n)
			files[name] = b.String()
			list = append(list, name, b.String())
		}
		f := newFixture(t, list...)
		note, head := r.IntN(5), r.IntN(4)
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: fmt.Sprintf("N%d", note), Edits: []notes.Edit{{Op: "rename_heading", Heading: fmt.Sprintf("Head %d", head), New: "Fresh"}}})
		switch n := strings.Count(files[fmt.Sprintf("N%d.md", note)], fmt.Sprintf("## Head %d\n", head)); n {
		case 1:
			require.NoError(t, err)
			for name, text := range files {
				var lines []string
				code := false
				for _, line := range strings.Split(text, "\n") {
					if strings.HasPrefix(line, "```") {
						code = !code
					}
					if !code {
						if name == fmt.Sprintf("N%d.md", note) {
							line = strings.ReplaceAll(line, fmt.Sprintf("## Head %d", head), "## Fresh")
							line = strings.ReplaceAll(line, fmt.Sprintf("[[#Head %d|", head), "[[#Fresh|")
						}
						line = strings.ReplaceAll(line, fmt.Sprintf("[[N%d#Head %d]]", note, head), fmt.Sprintf("[[N%d#Fresh]]", note))
						line = strings.ReplaceAll(line, fmt.Sprintf("(N%d.md#head-%d)", note, head), fmt.Sprintf("(N%d.md#fresh)", note))
					}
					lines = append(lines, line)
				}
				files[name] = strings.Join(lines, "\n")
			}
		default:
			require.Error(t, err, "%d headings of that name", n)
		}
		assert.Equal(t, files, f.files(), "round %d: heading %d of N%d", round, head, note)

		tag := r.IntN(3)
		old := regexp.MustCompile(fmt.Sprintf(`#[tT]ag%d\b`, tag))
		maps.Copy(before, files)
		done, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: fmt.Sprintf("tag%d", tag), To: "top/fresh"})
		for name, text := range files {
			var lines []string
			code := false
			for _, line := range strings.Split(text, "\n") {
				if strings.HasPrefix(line, "```") {
					code = !code
				}
				if !code {
					line = old.ReplaceAllString(line, "#top/fresh")
				}
				lines = append(lines, line)
			}
			files[name] = strings.Join(lines, "\n")
		}
		assert.True(t, err == nil || errors.Is(err, notes.ErrNotFound), "%v", err)
		assert.Equal(t, files, f.files(), "round %d: tag %d", round, tag)
		if err == nil && round%3 == 0 {
			f.requireUndone(done, before, files)
		}
		f.requireConsistent()
	}
}

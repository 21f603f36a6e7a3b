package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"notesd/internal/notestest"
	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ollama is a fake Ollama server, whose vectors show which of three words a text
// contains.
type ollama struct {
	*httptest.Server
	away atomic.Bool
	keys atomic.Pointer[string]
}

func newOllama(t *testing.T) *ollama {
	t.Helper()
	o := &ollama{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization")
		o.keys.Store(&key)
		if o.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var request struct{ Input []string }
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&request)) {
			return
		}
		var answer struct {
			Embeddings [][]float64 `json:"embeddings"`
		}
		for _, text := range request.Input {
			v := []float64{0.1}
			for _, sense := range [][]string{{"boat", "vessel"}, {"bread", "loaf"}, {"tide", "sea"}} {
				x := 0.0
				for _, word := range sense {
					if strings.Contains(text, word) {
						x = 1
					}
				}
				v = append(v, x)
			}
			answer.Embeddings = append(answer.Embeddings, v)
		}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(o.Close)
	return o
}

// configure writes the place's configuration file.
func (p place) configure(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.config(), "notesd", "notesd.toml"), []byte(text), 0o600))
}

func (p place) search(t *testing.T, args ...string) (paths []string, remarks string) {
	t.Helper()
	var found struct {
		Results []struct{ Path string }
		Notes   []string
	}
	require.NoError(t, json.Unmarshal([]byte(p.run(t, append([]string{"search", "--json"}, args...)...)), &found))
	for _, r := range found.Results {
		paths = append(paths, r.Path)
	}
	return paths, strings.Join(found.Notes, "\n")
}

func TestAServerMakesTheVectors(t *testing.T) {
	t.Parallel()
	server := newOllama(t)
	server.away.Store(true)
	p := newPlace(t, map[string]string{"a.md": "# A\n\nbuild a boat", "b.md": "# B\n\nbake some bread", "c.md": "# C\n\nhigh tide"})
	require.NoError(t, os.WriteFile(filepath.Join(p.config(), "notesd", "key"), []byte("sk-1\n"), 0o600))
	p.configure(t, fmt.Sprintf("[semantic]\nprovider = 'ollama'\nmodel = 'test'\nurl = %q\napi_key_file = 'key'\n", server.URL))

	h := p.launch(t, "mcp")
	h.initialize()
	var r service.Report
	eventually(t, "the status says what is waited for", func() bool {
		r = p.report(t)
		return strings.HasPrefix(r.Semantic.Trouble, "waiting for ollama at "+server.URL)
	})
	assert.Equal(t, "ollama:test", r.Semantic.Model)
	assert.Equal(t, "building", r.Semantic.State)
	assert.Equal(t, 3, r.Semantic.Pending)
	paths, remarks := p.search(t, "bread")
	assert.Equal(t, []string{"b.md"}, paths, "words find it all the same")
	assert.Contains(t, remarks, "semantic search: waiting for ollama at "+server.URL)
	_, remarks = p.search(t, "--mode", "semantic", "bread")
	assert.Contains(t, remarks, "it is busy (status 503)")

	server.away.Store(false)
	eventually(t, "the vectors are there", func() bool { r = p.report(t); return r.Semantic.State == "ready" })
	assert.Empty(t, r.Semantic.Trouble)
	assert.Equal(t, "Bearer sk-1", *server.keys.Load())
	paths, _ = p.search(t, "--mode", "semantic", "a vessel")
	require.NotEmpty(t, paths)
	assert.Equal(t, "a.md", paths[0], "no note has the word")
	const unused = "semantic search was not used"
	assert.NotContains(t, p.run(t, "why", "a.md", "vessel"), unused)
	byWords := p
	byWords.env = append(byWords.env, "NOTESD_SEARCH_MODE=text")
	assert.Contains(t, byWords.run(t, "why", "a.md", "vessel"), unused)

	paths, remarks = p.search(t, "gravel quarries")
	assert.Empty(t, paths)
	assert.Contains(t, remarks, "no note has these words or is semantically close")
	assert.NotContains(t, remarks, "ask in that", "the languages of the model are unknown")

	server.Close()
	paths, remarks = p.search(t, "loaf or bread")
	assert.Equal(t, "b.md", paths[0])
	assert.Contains(t, remarks, "nothing listens there; start the server; only words were searched")
	log, err := os.ReadFile(filepath.Join(p.state, service.DaemonLog))
	require.NoError(t, err)
	assert.NotContains(t, string(log), "sk-1")
	assert.NotContains(t, string(log), "vessel")
}

// A renamed vault keeps its vectors and tables; nothing is embedded again.
func TestRenamedVault_KeepsVectors(t *testing.T) {
	server := newOllama(t)
	p := newPlace(t, map[string]string{"a.md": "# A\n\nbuild a boat", "b.md": "# B\n\nbake some bread", "c.md": "# C\n\nhigh tide"})
	p.configure(t, fmt.Sprintf("[semantic]\nprovider = 'ollama'\nmodel = 'test'\nurl = %q\n", server.URL))
	p.run(t, "index", "--wait")
	h := p.launch(t, "mcp")
	h.initialize()
	h.tool("create_table", map[string]any{"table_name": "birds", "dimension": 2})
	before := p.report(t)
	require.Equal(t, 3, before.Semantic.Embedded)
	require.NoError(t, h.end())
	stopDaemon(t, p.state)

	server.away.Store(true)
	moved := p
	moved.vault, moved.state = filepath.Join(t.TempDir(), "elsewhere"), p.state+"-new"
	t.Cleanup(func() { stopDaemon(t, moved.state) })
	require.NoError(t, os.Rename(p.vault, moved.vault))
	after := moved.report(t)
	assert.Equal(t, before.Notes, after.Notes)
	assert.Equal(t, before.Index.Seq, after.Index.Seq, "the index was not built again")
	assert.Equal(t, before.Semantic, after.Semantic)
	assert.Empty(t, after.Warnings)
	assert.Contains(t, moved.run(t, "tables"), "birds")
	assert.NoDirExists(t, p.state)
}

func TestDoctor_ModelFile(t *testing.T) {
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{"a.md": "text"})
	check := func() (found check) {
		out, _ := p.command("doctor", "--json").Output() // it fails if there is a problem
		var all struct{ Checks []check }
		require.NoError(t, json.Unmarshal(out, &all), "%s", out)
		for _, c := range all.Checks {
			if c.Name == "model" {
				found = c
			}
		}
		return found
	}
	p.configure(t, "[semantic]\nprovider = 'builtin'\n")
	assert.Regexp(t, "all-MiniLM-L6-v2, in the program, runs on ", check().Text)

	file := filepath.Join(p.config(), "m.ndmodel")
	whole, err := os.ReadFile("../../vectors/model/all-MiniLM-L6-v2.ndmodel")
	require.NoError(t, err)
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)/2] ^= 1
	p.configure(t, fmt.Sprintf("[semantic]\nmodel = %q\n", file))
	for _, c := range []struct {
		name, state, text string
		data              []byte
	}{
		{"whole", fine, file, whole},
		{"a bit is wrong", problem, "checksum", damaged},
		{"cut off", problem, "the model cannot be used", whole[:len(whole)/2]},
		{"something else", problem, "the model cannot be used", []byte("# A note\n")},
	} {
		require.NoError(t, os.WriteFile(file, c.data, 0o600))
		got := check()
		assert.Equal(t, c.state, got.State, c.name)
		assert.Contains(t, got.Text, c.text, c.name)
		if c.state == problem {
			assert.Contains(t, got.Do, "Copy the file again", c.name)
		}
	}
}

func TestSearch_ConfiguredLimit(t *testing.T) {
	notestest.SkipInShort(t)
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("n%d.md", i)] = "the same words"
	}
	p := newPlace(t, files)
	paths, _ := p.search(t, "words")
	assert.Len(t, paths, 10)
	p.configure(t, "[search]\nlimit = 2\n[semantic]\nprovider = 'off'\n")
	paths, _ = p.search(t, "words")
	assert.Len(t, paths, 2)
	paths, _ = p.search(t, "--limit", "3", "words")
	assert.Len(t, paths, 3)
}

// A vault in German is embedded with the multilingual model, and an English question
// finds its notes. Tables use the model of the vault, and keep it.
func TestAutoModel(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{
		"Brot.md":  "# Sauerteig\n\nDer Teig muss über Nacht ruhen, und dann wird er im Ofen gebacken.",
		"Boot.md":  "# Segeln\n\nWir haben das Boot gestrichen, aber der Mast ist noch nicht repariert.",
		"Musik.md": "# Konzert\n\nDas Orchester spielte eine Sinfonie, die ich noch nie gehört hatte.",
	})
	p.configure(t, "[semantic]\nprovider = 'builtin'\n")
	h := p.launch(t, "mcp")
	h.initialize()
	var r service.Report
	ready := func(model, why string) {
		t.Helper()
		eventually(t, "the vectors of "+model, func() bool {
			r = p.report(t)
			return r.Semantic.State == "ready" && strings.HasPrefix(r.Semantic.Model, model) && r.Semantic.Why == why
		})
		assert.Contains(t, p.run(t, "status"), "; chosen by language: "+why)
		doctor, err := p.command("doctor").CombinedOutput()
		require.NoError(t, err, "%s", doctor)
		assert.Contains(t, string(doctor), model+", in the program")
	}
	ready("multilingual-e5-small", "100 % of 3 passages are not English")
	paths, _ := p.search(t, "--mode", "semantic", "painting a sailing vessel")
	require.NotEmpty(t, paths)
	assert.Equal(t, "Boot.md", paths[0])

	require.False(t, h.tool("create_table", map[string]any{"table_name": "words", "dimension": 384}).IsError)
	added := h.tool("add_vector", map[string]any{"table_name": "words", "id": "cat", "text": "Katze"})
	require.False(t, added.IsError)
	assert.Contains(t, added.Content[0].Text, "\n(the text is not kept: results show only id and metadata, which can hold it)")
	added = h.tool("add_vector", map[string]any{"table_name": "words", "id": "cat", "text": "Katze", "metadata": map[string]any{"text": "Katze"}})
	require.False(t, added.IsError)
	assert.NotContains(t, added.Content[0].Text, "not kept")
	for i := range 60 {
		require.NoError(t, os.WriteFile(filepath.Join(p.vault, fmt.Sprintf("Day %d.md", i)), fmt.Appendf(nil, "On day %d we were at the lake and it was as cold as the day before that.", i), 0o644))
	}
	for _, name := range []string{"Brot.md", "Musik.md"} {
		require.NoError(t, os.Remove(filepath.Join(p.vault, name)))
	}
	ready("all-MiniLM-L6-v2", "2 % of 61 passages are not English")
	found := h.tool("search_vectors", map[string]any{"table_name": "words", "query_text": "Katze"})
	require.False(t, found.IsError)
	text, err := json.Marshal(found)
	require.NoError(t, err)
	assert.Regexp(t, `"score":(1|0\.9999)`, string(text), "the table's own model embeds the question")
	assert.Regexp(t, `words: 1 row, dimension 384, cosine, texts by multilingual-e5-small-\w+$`, h.tool("list_tables", map[string]any{}).Content[0].Text)
	assert.Contains(t, p.run(t, "tables", "--json"), `"model": "multilingual-e5-small`)
}

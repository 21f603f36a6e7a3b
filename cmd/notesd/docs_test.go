package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/hosts"
	"notesd/internal/notestest"
)

// docPage is a Markdown page of the documentation.
type docPage struct {
	name    string // relative to the module's root
	anchors map[string]bool
	links   []docLink
	blocks  []docBlock
	prose   string // text outside code blocks
}

type docLink struct {
	line   int
	target string
}

// docBlock is a fenced code block.
type docBlock struct {
	line       int
	lang, text string
	follows    int // index of the block whose output this is, or -1
}

// notRun lists the command lines in the documentation that no test runs, with the reason.
// The shell still parses them, and flags of notesd in them are checked.
var notRun = []struct{ pattern, why string }{
	{`^go (run|test|build|generate|vet|tool|fix) `, "takes minutes; .ci/run runs the two of the README"},
	{`^[A-Z_]+=\S+ .*go test`, "the long form of a test"},
	{`^\.ci/`, "needs the network and takes minutes"},
	{`^(claude|gemini|codex|code) `, "a program of another maker"},
	{`^docker `, "needs the image of a release"},
	{`^(\./)?notesd service `, "changes what starts at the user's login; a test of its own runs it"},
	{`^sha256sum `, "needs the files of a release"},
	{`^(\./)?notesd team `, "needs a database; TestTeamCommandsOfTheDocs runs it"},
	{`^(\./)?notesd (web|serve|mirror|mcp)\b`, "runs until it is stopped; the tests of these commands launch it"},
	{`^(\./)?notesd eval `, "needs a judged set"},
}

// parsedOnly lists the pages whose commands are examples with made-up names of notes.
var parsedOnly = map[string]bool{"docs/reference/commands.md": true}

func docPages(t *testing.T) []docPage {
	t.Helper()
	root := notestest.Root(t)
	names := []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			rel, _ := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	}))
	var pages []docPage
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		pages = append(pages, readPage(name, string(text)))
	}
	return pages
}

var (
	docHeading = regexp.MustCompile(`^#{1,6} (.+)$`)
	docTarget  = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()]*\))?[^()\s]*)\)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	notSlug    = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

func readPage(name, text string) docPage {
	p := docPage{name: name, anchors: map[string]bool{}}
	var open *docBlock
	output := -1 // block whose output may follow
	var prose strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fence, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fenced && open == nil:
			open = &docBlock{line: i + 1, lang: fence, follows: -1}
			if fence == "text" {
				open.follows = output
			}
		case fenced:
			p.blocks = append(p.blocks, *open)
			if output = -1; open.lang == "sh" {
				output = len(p.blocks) - 1
			}
			open = nil
		case open != nil:
			open.text += line + "\n"
		default:
			if m := docHeading.FindStringSubmatch(line); m != nil {
				p.anchors[slug(m[1])] = true
				output = -1
			}
			prose.WriteString(line + "\n")
			for _, m := range docTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				p.links = append(p.links, docLink{i + 1, m[1]})
			}
		}
	}
	p.prose = prose.String()
	return p
}

// slug returns the anchor of a heading, following GitHub's rules.
func slug(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// Every link in the documentation leads to an existing file and heading, and every page
// is reachable from docs/README.md.
func TestDocs_Links(t *testing.T) {
	root := notestest.Root(t)
	pages := map[string]docPage{}
	for _, p := range docPages(t) {
		pages[p.name] = p
	}
	for _, p := range pages {
		for _, link := range p.links {
			if strings.HasPrefix(link.target, "https://") {
				continue
			}
			file, anchor, _ := strings.Cut(link.target, "#")
			name := path.Join(path.Dir(p.name), file)
			if file == "" {
				name = p.name
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); !assert.NoError(t, err, "%s:%d", p.name, link.line) {
				continue
			}
			if anchor != "" {
				assert.True(t, pages[name].anchors[anchor], "%s:%d: %s has no heading for #%s", p.name, link.line, name, anchor)
			}
		}
	}
	reached := map[string]bool{}
	var reach func(name string)
	reach = func(name string) {
		if p, ok := pages[name]; ok && !reached[name] {
			reached[name] = true
			for _, link := range p.links {
				file, _, _ := strings.Cut(link.target, "#")
				if file != "" {
					reach(path.Join(path.Dir(name), file))
				}
			}
		}
	}
	reach("docs/README.md")
	for name := range pages {
		assert.True(t, reached[name], "no link leads from docs/README.md to %s", name)
	}
}

// Each host known to setup has its own section.
func TestDocs_Hosts(t *testing.T) {
	for _, p := range docPages(t) {
		if p.name != "docs/how-to/hosts.md" {
			continue
		}
		for _, h := range hosts.All {
			assert.True(t, p.anchors[slug(h.Title)], "%s has no section", h.Title)
			assert.Contains(t, p.prose, "`notesd setup --vault ~/Notes "+h.Name+"`")
		}
		return
	}
	assert.Fail(t, "docs/how-to/hosts.md is missing")
}

// Every block in the documentation is run or parsed by the program.
func TestDocs_Blocks(t *testing.T) {
	notestest.SkipInShort(t)
	used := map[string]bool{}
	for _, p := range docPages(t) {
		script := newDocScript(t, p, used)
		for i, b := range p.blocks {
			at := fmt.Sprintf("%s:%d", p.name, b.line)
			switch b.lang {
			case "sh":
				script.add(i, b)
			case "text":
				if b.follows < 0 {
					assert.NotContains(t, b.text, "```", at)
				}
			case "json":
				checkJSONBlock(t, at, b.text)
			case "toml":
				checkTOMLBlock(t, at, b.text)
			default:
				assert.Fail(t, "a block without a check", "%s: %q is neither sh, text, json nor toml", at, b.lang)
			}
		}
		t.Run(p.name, func(t *testing.T) { script.run(t, p) })
	}
	for _, skip := range notRun {
		assert.True(t, used[skip.pattern], "no page has a line that %s matches", skip.pattern)
	}
}

// docScript is the shell script of a page: its blocks, run in one scratch home.
type docScript struct {
	t    *testing.T
	used map[string]bool
	page docPage
	text strings.Builder
	runs int // number of lines that are run
}

func newDocScript(t *testing.T, p docPage, used map[string]bool) *docScript {
	return &docScript{t: t, used: used, page: p}
}

// blockMark marks the start of each block's output.
const blockMark = "\x1e"

func (s *docScript) add(i int, b docBlock) {
	fmt.Fprintf(&s.text, "printf '%s%d\\n'\n", blockMark, i)
	for line := range strings.Lines(b.text) {
		if why := s.skipped(line); why != "" || parsedOnly[s.page.name] {
			command, _, _ := strings.Cut(line, " #")
			requireUnderstood(s.t, strings.TrimSpace(command))
			continue
		}
		s.runs++
		s.text.WriteString(line)
	}
}

// skipped returns the reason why a line is not run, or "".
func (s *docScript) skipped(line string) string {
	for _, skip := range notRun {
		if regexp.MustCompile(skip.pattern).MatchString(strings.TrimSpace(line)) {
			s.used[skip.pattern] = true
			return skip.why
		}
	}
	return ""
}

// run runs the script in a home with the example vault as ~/Notes, and compares the
// output of the blocks with the page.
func (s *docScript) run(t *testing.T, p docPage) {
	if s.runs == 0 {
		return
	}
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("the pages name the folders of Linux, and bash runs them")
	}
	t.Parallel()
	home := t.TempDir()
	notes := os.DirFS(examples(t))
	require.NoError(t, os.CopyFS(filepath.Join(home, "Notes"), notes))
	require.NoError(t, os.CopyFS(filepath.Join(home, "notesd", "examples", "vault"), notes))
	program, err := exec.LookPath("notesd")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(home, "notesd", "notesd")))
	t.Cleanup(func() { stopDaemons(t, filepath.Join(home, ".local")) })
	if p.name != "docs/tutorial.md" { // the tutorial shows semantic search
		require.NoError(t, configureTests(filepath.Join(home, ".config")))
	}

	cmd := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-s")
	cmd.Dir = filepath.Join(home, "notesd")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8", "TZ=UTC"}
	cmd.Stdin = strings.NewReader(s.text.String())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Run(), "%s: its blocks fail; what they printed:\n%s", p.name, out.String())

	printed := map[string]string{}
	for _, part := range strings.Split(out.String(), blockMark)[1:] {
		number, text, _ := strings.Cut(part, "\n")
		printed[number] = strings.ReplaceAll(text, home, "/home/you")
	}
	for _, b := range p.blocks {
		if b.follows >= 0 {
			assertShown(t, fmt.Sprintf("%s:%d", p.name, b.line), b.text, printed[fmt.Sprint(b.follows)])
		}
	}
}

// assertShown compares output with the output on a page, in which … matches anything
// within a line, or any number of lines if alone.
func assertShown(t *testing.T, at, shown, printed string) {
	t.Helper()
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " \n"), "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		pattern.WriteString(strings.Join(parts, `.*`) + ` *\n`)
	}
	assert.Regexp(t, `^\n*`+strings.TrimLeft(pattern.String(), "\n")+`\n*$`, printed, "%s shows another output", at)
}

func TestAssertShown(t *testing.T) {
	for shown, same := range map[string]bool{"one\ntwo\n": true, "one\n": false, "…\ntwo\n": true, "o…\n…\n": true, "o…x\n…\n": false} {
		inner := &testing.T{}
		assertShown(inner, "", shown, "one\ntwo\n")
		assert.Equal(t, same, !inner.Failed(), shown)
	}
}

// checkJSONBlock parses a block as JSON and, if it launches notesd, as the settings of a
// host.
func checkJSONBlock(t *testing.T, at, text string) {
	t.Helper()
	var doc map[string]json.RawMessage
	if !assert.NoError(t, json.Unmarshal([]byte(text), &doc), at) {
		return
	}
	for _, member := range []string{"mcpServers", "servers", "context_servers"} {
		var servers map[string]hosts.Server
		if raw, ok := doc[member]; ok && assert.NoError(t, json.Unmarshal(raw, &servers), at) {
			checkServers(t, at, servers)
		}
	}
}

// checkTOMLBlock loads a block as settings of notesd or of Codex.
func checkTOMLBlock(t *testing.T, at, text string) {
	t.Helper()
	if strings.Contains(text, "[mcp_servers.") {
		codex := hosts.All[slices.IndexFunc(hosts.All, func(h hosts.Host) bool { return h.Name == "codex" })]
		env := hosts.Env{Vars: []string{"CODEX_HOME=" + t.TempDir()}, OS: "linux"}
		require.NoError(t, os.WriteFile(codex.File(env), []byte(text), 0o600))
		settings, err := codex.Read(env)
		if assert.NoError(t, err, at) {
			checkServers(t, at, settings.Servers)
		}
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "notesd.toml")
	for name, content := range map[string]string{"notesd.toml": text, "cert.pem": "", "key.pem": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	home := t.TempDir()
	require.NoError(t, errors.Join(os.Mkdir(filepath.Join(home, "Notes"), 0o755), os.Mkdir(filepath.Join(home, "Work"), 0o755)))
	_, err := config.Load(config.Sources{File: file, Env: []string{"HOME=" + home}})
	assert.NoError(t, err, at)
}

func checkServers(t *testing.T, at string, servers map[string]hosts.Server) {
	t.Helper()
	assert.NotEmpty(t, servers, at)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		assert.True(t, s.IsNotesd(), "%s: %s launches %q", at, name, s.Command)
		requireUnderstood(t, "notesd '"+strings.Join(s.Args, "' '")+"'")
		env := []string{"HOME=" + t.TempDir()}
		for variable, value := range s.Env {
			env = append(env, variable+"="+value)
		}
		_, err := config.Load(config.Sources{Env: env})
		assert.NoError(t, err, at)
	}
}

// Package archtest checks the module's layering. It contains only tests.
//
// The rules are data: which packages of the module each package may import,
// which third-party modules belong to it, and why. A package that is not in the
// table fails the test, so adding one requires deciding its place. The linter has
// the same rules (depguard in .golangci.yml), to show mistakes in the editor; a
// test here keeps the two consistent.
package archtest

// module is the import path of this module.
const module = "notesd"

// layer is what one package may use.
type layer struct {
	imports    []string // packages of this module; everything in it for "…"
	thirdParty []string // modules of others, beside the free ones
	why        string   // the reason, as the failure shows it
}

const leafWhy = "it is a leaf: it can be understood, tested and replaced alone"

const engineWhy = "the engine turns text into vectors and does not depend on notes or on how vectors are stored"

// layers is the design's table of packages, by path below the module.
var layers = map[string]layer{
	".": {why: "it embeds the documented configuration file, which lies beside it"},
	"cmd/notesd": {
		imports:    []string{"…"},
		thirdParty: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/modelcontextprotocol/go-sdk", "github.com/dustin/go-humanize", "github.com/rivo/uniseg", "github.com/schollz/progressbar/v3"},
		why:        "the commands call the service, as a client or in this process, and print results",
	},
	"internal/service": {
		imports: []string{
			"internal/atomicfile", "internal/config", "internal/daemon", "internal/fsid", "internal/httpserver", "internal/mirror", "internal/sqlite", "internal/web", "mcp", "migrations",
			"notes", "notes/pglog", "notes/store", "notes/vault", "notes/vault/disk", "prompts", "search", "search/index",
			"vectors", "vectors/bert", "vectors/endpoint", "vectors/model", "vectors/table", "watcher",
		},
		thirdParty: []string{"github.com/KimMachineGun/automemlimit", "github.com/modelcontextprotocol/go-sdk"},
		why:        "it assembles the packages into a daemon; the commands start and query it",
	},
	"mcp": {
		imports:    []string{"mcp/tools", "mcp/transport", "notes", "search", "vectors/table", "prompts", "internal/fsid", "internal/httpserver", "internal/phrase"},
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go"},
		why:        "the protocol calls the domain and the engines through interfaces, without access to storage, files and configuration",
	},
	"mcp/transport": {
		imports:    []string{"internal/jsonrpc", "internal/phrase"},
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk"},
		why:        "it transfers messages, which the sessions interpret",
	},
	"mcp/tools": {
		imports: []string{"notes", "search", "vectors/table", "prompts", "internal/canvas", "internal/phrase", "internal/quote"},
		why:     "a tool turns arguments into a result and does not depend on sessions or protocol messages",
	},
	"prompts": {
		imports:    []string{"notes", "internal/phrase"},
		thirdParty: []string{"github.com/goccy/go-yaml"},
		why:        "a prompt is text about notes; it searches through an interface that it declares",
	},
	"search": {
		imports: []string{"notes", "internal/markdown", "search/index", "search/terms"}, // what is shown of a text
		why:     "search follows the feed of notes and uses vectors through an interface that it declares, so that each works without the other",
	},
	"search/index": {
		imports:    []string{"notes", "search/terms", "internal/phrase"},
		thirdParty: []string{"github.com/blevesearch", "github.com/RoaringBitmap"}, // Bleve's segments hold its bitmaps
		why:        "the index counts terms and ranks by them; search parses and answers queries",
	},
	"search/terms": {thirdParty: []string{"github.com/blevesearch"}, why: leafWhy}, // its Porter stemmer
	"search/eval": {
		imports: []string{"search"},
		why:     "it measures search through its exported functions, so that it measures what users get",
	},
	"vectors": {
		imports: []string{"notes", "internal/sqlite", "vectors/bert", "vectors/flat", "vectors/language"},
		why:     "vectors follow the feed of notes and do not depend on text search",
	},
	"vectors/table": {
		imports: []string{"notes", "notes/store", "internal/sqlite", "vectors/flat"},
		why:     "users' tables share the scan of vectors with the notes' embeddings, and the journal with the notes",
	},
	"vectors/flat": {
		imports: []string{"vectors/bert/kernel"},
		why:     "it stores and compares vectors of any kind",
	},
	"vectors/bert": {
		imports: []string{"vectors/bert/kernel", "vectors/bert/modelfile", "vectors/bert/unigram", "vectors/bert/wordpiece"},
		why:     engineWhy,
	},
	"vectors/endpoint":       {why: leafWhy},
	"vectors/language":       {why: leafWhy},
	"vectors/bert/kernel":    {why: leafWhy},
	"vectors/bert/modelfile": {why: leafWhy},
	"vectors/bert/unigram": {
		imports: []string{"vectors/bert/vocabulary"},
		why:     "a tokenizer depends on its vocabulary only, not on models",
	},
	"vectors/bert/wordpiece": {
		imports: []string{"vectors/bert/vocabulary"},
		why:     "a tokenizer depends on its vocabulary only, not on models",
	},
	"vectors/bert/vocabulary": {why: leafWhy},
	"vectors/model":           {imports: []string{"vectors/bert"}, why: engineWhy},
	"vectors/model/convert": {
		imports: []string{"vectors/bert/kernel", "vectors/bert/modelfile", "vectors/bert/unigram", "vectors/bert/wordpiece"},
		why:     engineWhy,
	},
	"notes": {
		imports:    []string{"internal/markdown", "internal/markdown/edit", "internal/markdown/tasks", "internal/moment"},
		thirdParty: []string{"github.com/bmatcuk/doublestar/v4"},
		why:        "every package may import the domain, so it must not depend on any of them",
	},
	"notes/store": {
		imports:    []string{"notes", "internal/fsid", "internal/markdown", "internal/markdown/tasks", "internal/phrase", "internal/sqlite", "internal/textdiff"},
		thirdParty: []string{"github.com/klauspost/compress"},
		why:        "the store reads and writes rows and never accesses the vault's files",
	},
	"notes/vault": {
		imports: []string{"notes", "notes/store", "notes/vault/appsettings", "notes/vault/disk", "internal/atomicfile", "internal/canvas", "internal/fsid", "internal/markdown", "internal/markdown/edit", "internal/markdown/tasks", "internal/sqlite", "internal/textdiff"},
		why:     "the vault writes files and the store; engines, watcher and protocol depend on it, not it on them",
	},
	"notes/vault/appsettings": {
		imports: []string{"notes", "notes/store", "notes/vault/disk", "internal/markdown/tasks"},
		why:     "it reads settings, and does not depend on what the vault does with them",
	},
	"notes/vault/disk": {
		imports: []string{"notes", "internal/atomicfile", "internal/fsid"},
		why:     "it opens the vault's folders and does not depend on the contents of files or on the store",
	},
	"notes/pglog": {
		imports:    []string{"migrations", "notes", "notes/store"}, // how the store packs texts
		thirdParty: []string{"github.com/jackc/pgx/v5"},
		why:        "the log is a database that nodes share; it does not access folders",
	},
	"internal/mirror": {
		imports: []string{"internal/fsid", "internal/sqlite", "notes", "notes/pglog", "notes/store", "notes/vault"},
		why:     "it compares a vault's folder with the log; the vault writes the folder, and notes/pglog writes the log",
	},
	"internal/pgtest": {
		thirdParty: []string{"github.com/jackc/pgx/v5", "github.com/stretchr/testify"},
		why:        leafWhy,
	},
	"internal/fsid": {why: leafWhy},
	"watcher": {
		imports:    []string{"internal/fsid"},
		thirdParty: []string{"github.com/fsnotify/fsnotify"},
		why:        "it reports paths that may have changed; the vault decides what changed",
	},
	"migrations": {why: leafWhy},
	"internal/config": {
		imports:    []string{"notes", "internal/fsid", "internal/phrase"}, // how notes compares names, and which names are notes'
		thirdParty: []string{"github.com/knadh/koanf", "github.com/pelletier/go-toml/v2", "github.com/spf13/pflag"},
		why:        "it reads settings and does not depend on the packages that use them",
	},
	"internal/autostart": {why: leafWhy},
	"internal/desktop":   {why: leafWhy},
	"internal/hosts": {
		imports:    []string{"internal/atomicfile", "internal/fsid"},
		thirdParty: []string{"github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2"},
		why:        "it edits settings files and does not depend on notes",
	},
	"internal/sqlite": {
		imports:    []string{"migrations"},
		thirdParty: []string{"modernc.org/sqlite"},
		why:        "it opens databases and does not depend on their tables",
	},
	"internal/markdown/tasks": {imports: []string{"internal/phrase"}, why: "it reads and changes the task on a line; the caller finds the lines"},
	"internal/markdown": {
		imports:    []string{"internal/markdown/tasks", "internal/phrase"},
		thirdParty: []string{"github.com/goccy/go-yaml", "github.com/pelletier/go-toml/v2"},
		why:        leafWhy,
	},
	"internal/markdown/edit": {
		imports:    []string{"internal/markdown", "internal/markdown/tasks", "internal/quote"},
		thirdParty: []string{"github.com/goccy/go-yaml", "github.com/pelletier/go-toml/v2"},
		why:        "it turns texts into texts",
	},
	"internal/markdown/mdtest": {
		thirdParty: []string{"github.com/stretchr/testify"},
		why:        leafWhy,
	},
	"internal/textdiff":   {imports: []string{"internal/phrase"}, thirdParty: []string{"github.com/aymanbagabas/go-udiff"}, why: leafWhy},
	"internal/atomicfile": {why: leafWhy},
	"internal/moment":     {why: leafWhy},
	"internal/httpserver": {imports: []string{"internal/phrase"}, why: leafWhy},
	"internal/jsonrpc":    {why: leafWhy},
	"internal/phrase":     {why: leafWhy},
	"internal/quote":      {imports: []string{"internal/markdown"}, why: "it finds what is shown of a text and does not depend on who shows it"},
	"internal/canvas":     {thirdParty: []string{"github.com/tailscale/hujson"}, why: leafWhy},
	"internal/daemon":     {imports: []string{"internal/fsid", "internal/jsonrpc"}, why: "it decides which process serves a vault and does not depend on what that process does"},
	"internal/relay":      {imports: []string{"internal/daemon", "internal/jsonrpc"}, why: "it forwards messages and does not depend on what they mean"},
	"internal/session": {
		imports:    []string{"mcp"}, // the form of failures
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk"},
		why:        "it is a client of the protocol; the commands and the web page decide what to call",
	},
	"internal/web": {
		imports:    []string{"internal/httpserver", "internal/markdown", "internal/markdown/tasks", "internal/session", "mcp", "mcp/tools", "search", "search/terms"}, // where front matter ends; the boxes of tasks; the types of results; what matches a word
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/yuin/goldmark"},
		why:        "the page is an MCP client, with no more access to the vault than other clients",
	},
	"vectors/model/convert/reference": {imports: []string{"vectors/bert", "vectors/model"}, why: engineWhy},
	"internal/archtest":               {why: leafWhy},
	"examples":                        {why: "it holds a vault, and tests of that vault"},
	"internal/notestest": {
		imports:    []string{"notes", "internal/sqlite", "internal/markdown", "migrations"},
		thirdParty: []string{"github.com/stretchr/testify"},
		why:        "tests of every package import fixtures, so fixtures import only packages below all of these",
	},
}

// free modules extend the standard library; any package may use them.
var free = []string{"golang.org/x"}

// testOnly is what test files may import beyond their package's layer.
var testOnly = struct{ imports, thirdParty []string }{
	imports:    []string{"internal/notestest", "internal/pgtest", "notes/store", "notes/vault", "search/eval", "search/index"}, // most tests use a real vault, one uses judged queries
	thirdParty: []string{"github.com/stretchr/testify", "github.com/rogpeppe/go-internal"},
}

// testExtra is what the tests of one package may import beyond that.
var testExtra = map[string]struct{ imports, thirdParty []string }{
	"cmd/notesd": {thirdParty: []string{
		"github.com/tailscale/hujson",                                 // reads the settings that setup has written
		"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", // open the page
		"github.com/goccy/go-yaml", // reads the example for containers
	}},
	"internal/web":           {thirdParty: []string{"golang.org/x/net/html"}},           // parses rendered pages
	"mcp/tools":              {thirdParty: []string{"github.com/google/jsonschema-go"}}, // validates the answers
	"examples":               {imports: []string{"internal/markdown"}},
	"internal/service":       {imports: []string{"internal/session"}}, // calls the owner's methods as commands do
	"internal/daemon":        {imports: []string{"internal/relay"}},   // its processes are tested with real relays
	"search/eval":            {imports: []string{"notes"}},
	"vectors":                {imports: []string{"vectors/model"}},
	"vectors/bert":           {imports: []string{"vectors/model"}},
	"vectors/model":          {imports: []string{"vectors/bert/modelfile", "vectors/bert/unigram"}},
	"vectors/model/convert":  {imports: []string{"vectors/bert"}},
	"notes/vault":            {imports: []string{"migrations"}}, // it opens stores of earlier versions
	"migrations":             {thirdParty: []string{"modernc.org/sqlite"}},
	"vectors/table":          {thirdParty: []string{"modernc.org/sqlite"}},                                                                     // its vec, the reference for distances
	"internal/markdown":      {imports: []string{"internal/markdown/mdtest"}, thirdParty: []string{"github.com/yuin/goldmark"}},                // the oracle for CommonMark
	"internal/markdown/edit": {imports: []string{"internal/markdown/mdtest", "internal/textdiff"}, thirdParty: []string{"go.yaml.in/yaml/v3"}}, // another reader of front matter
	"internal/archtest":      {thirdParty: []string{"github.com/goccy/go-yaml"}},
}

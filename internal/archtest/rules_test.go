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

const engineWhy = "the engine turns text into vectors and knows nothing of notes or of how vectors are kept"

// layers is the design's table of packages, by path below the module.
var layers = map[string]layer{
	".": {why: "it holds the documented configuration file, which only a package beside it can embed"},
	"cmd/notesd": {
		imports:    []string{"…"},
		thirdParty: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/modelcontextprotocol/go-sdk", "github.com/schollz/progressbar/v3"},
		why:        "the commands ask the service, as a client or in this process, and decide nothing",
	},
	"internal/service": {
		imports: []string{
			"internal/atomicfile", "internal/config", "internal/daemon", "internal/fsid", "internal/mirror", "internal/sqlite", "internal/web", "mcp", "migrations",
			"notes", "notes/pglog", "notes/store", "notes/vault", "notes/vault/disk", "prompts", "search", "search/index",
			"vectors", "vectors/bert", "vectors/endpoint", "vectors/model", "vectors/table", "watcher",
		},
		thirdParty: []string{"github.com/KimMachineGun/automemlimit", "github.com/modelcontextprotocol/go-sdk"},
		why:        "it makes a daemon of the packages: what they do is theirs, and how it is asked for is the commands'",
	},
	"mcp": {
		imports:    []string{"mcp/tools", "mcp/transport", "notes", "search", "vectors/table", "prompts", "internal/fsid", "internal/phrase"},
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go"},
		why:        "the protocol boundary asks the domain and the engines; storage, files and configuration are not its business",
	},
	"mcp/transport": {
		imports:    []string{"internal/jsonrpc", "internal/phrase"},
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk"},
		why:        "it moves messages; what they ask for is the sessions' business",
	},
	"mcp/tools": {
		imports: []string{"notes", "search", "vectors/table", "prompts", "internal/canvas", "internal/phrase", "internal/quote"},
		why:     "a tool turns arguments into a result; sessions and the protocol's messages are not its business",
	},
	"prompts": {
		imports:    []string{"notes", "internal/phrase"},
		thirdParty: []string{"github.com/goccy/go-yaml"},
		why:        "a prompt is text about notes; what is searched for it comes through an interface of its own",
	},
	"search": {
		imports: []string{"notes", "search/index", "search/terms"},
		why:     "search follows the feed of notes; vectors are fused with it by an interface that it declares, so that each works without the other",
	},
	"search/index": {
		imports:    []string{"notes", "search/terms", "internal/phrase"},
		thirdParty: []string{"github.com/blevesearch", "github.com/RoaringBitmap"}, // Bleve's segments hold its bitmaps
		why:        "the index counts terms and ranks by them; how queries are read and answered is not its business",
	},
	"search/terms": {thirdParty: []string{"github.com/blevesearch"}, why: leafWhy}, // its Porter stemmer
	"search/eval": {
		imports: []string{"search"},
		why:     "it measures the answers of search from outside, so that what it measures is what users get",
	},
	"vectors": {
		imports: []string{"notes", "internal/sqlite", "vectors/bert", "vectors/flat", "vectors/language"},
		why:     "vectors follow the feed of notes; they never know how text is searched",
	},
	"vectors/table": {
		imports: []string{"notes", "notes/store", "internal/sqlite", "vectors/flat"},
		why:     "users' tables share scanning with the notes' vectors and the journal with the notes, and nothing else",
	},
	"vectors/flat": {
		imports: []string{"vectors/bert/kernel"},
		why:     "it stores and compares vectors, whatever they stand for",
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
		why:     "a tokenizer knows its vocabulary and nothing of models",
	},
	"vectors/bert/wordpiece": {
		imports: []string{"vectors/bert/vocabulary"},
		why:     "a tokenizer knows its vocabulary and nothing of models",
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
		why:        "the domain is in the middle: everything points to it and it knows none of them",
	},
	"notes/store": {
		imports:    []string{"notes", "internal/fsid", "internal/markdown", "internal/markdown/tasks", "internal/phrase", "internal/sqlite", "internal/textdiff"},
		thirdParty: []string{"github.com/klauspost/compress"},
		why:        "the store keeps rows; it never touches the vault's files",
	},
	"notes/vault": {
		imports:    []string{"notes", "notes/store", "notes/vault/disk", "internal/atomicfile", "internal/fsid", "internal/markdown", "internal/markdown/edit", "internal/markdown/tasks", "internal/sqlite"},
		thirdParty: []string{"github.com/tailscale/hujson"},
		why:        "the vault writes files and the store; engines, watcher and protocol follow it, and it knows none of them",
	},
	"notes/vault/disk": {
		imports: []string{"notes", "internal/atomicfile", "internal/fsid"},
		why:     "it opens the vault's folders and knows neither what is in their files nor the store",
	},
	"notes/pglog": {
		imports:    []string{"migrations", "notes", "notes/store"}, // how the store packs texts
		thirdParty: []string{"github.com/jackc/pgx/v5"},
		why:        "the log is a database that nodes share; folders are not its business",
	},
	"internal/mirror": {
		imports: []string{"internal/fsid", "internal/sqlite", "notes", "notes/pglog", "notes/store", "notes/vault"},
		why:     "it compares a vault's folder with the log; the vault writes the one, the log the other",
	},
	"internal/pgtest": {
		thirdParty: []string{"github.com/jackc/pgx/v5", "github.com/stretchr/testify"},
		why:        leafWhy,
	},
	"internal/fsid": {why: leafWhy},
	"watcher": {
		imports:    []string{"internal/fsid"},
		thirdParty: []string{"github.com/fsnotify/fsnotify"},
		why:        "it reports paths that may have changed; what they mean is not its business",
	},
	"migrations": {why: leafWhy},
	"internal/config": {
		imports:    []string{"notes", "internal/fsid", "internal/phrase"}, // how notes compares names, and which names are notes'
		thirdParty: []string{"github.com/knadh/koanf", "github.com/pelletier/go-toml/v2", "github.com/spf13/pflag"},
		why:        "it reads settings and knows nothing of what they change",
	},
	"internal/autostart": {why: leafWhy},
	"internal/desktop":   {why: leafWhy},
	"internal/hosts": {
		imports:    []string{"internal/atomicfile", "internal/fsid"},
		thirdParty: []string{"github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2"},
		why:        "it edits settings files and knows nothing of notes",
	},
	"internal/sqlite": {
		imports:    []string{"migrations"},
		thirdParty: []string{"modernc.org/sqlite"},
		why:        "it opens databases and knows no table",
	},
	"internal/markdown/tasks": {imports: []string{"internal/phrase"}, why: "it reads and changes tasks; where they are is the caller's to say"},
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
	"internal/jsonrpc":    {why: leafWhy},
	"internal/phrase":     {why: leafWhy},
	"internal/quote":      {why: leafWhy},
	"internal/canvas":     {why: leafWhy},
	"internal/daemon":     {imports: []string{"internal/fsid", "internal/jsonrpc"}, why: "it decides which process serves a vault, whatever that process does"},
	"internal/relay":      {imports: []string{"internal/daemon", "internal/jsonrpc"}, why: "it passes messages on and never decides what they mean"},
	"internal/session": {
		imports:    []string{"mcp"}, // the form of failures
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk"},
		why:        "it is a client of the protocol; what is called is the commands' and the page's business",
	},
	"internal/web": {
		imports:    []string{"internal/markdown", "internal/markdown/tasks", "internal/session", "mcp", "mcp/tools", "search", "search/terms"}, // where front matter ends; the boxes of tasks; the types of results; what matches a word
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/yuin/goldmark"},
		why:        "the page is an MCP client: it has no access to the vault that another client does not have",
	},
	"vectors/model/convert/reference": {imports: []string{"vectors/bert", "vectors/model"}, why: engineWhy},
	"internal/archtest":               {why: leafWhy},
	"examples":                        {why: "it holds a vault, and tests of the vault"},
	"internal/notestest": {
		imports:    []string{"notes", "internal/sqlite", "internal/markdown", "migrations"},
		thirdParty: []string{"github.com/stretchr/testify"},
		why:        "fixtures are for every package's tests, so they can use only what lies below all of them",
	},
}

// free modules extend the standard library; any package may use them.
var free = []string{"golang.org/x"}

// testOnly is what test files may import beyond their package's layer.
var testOnly = struct{ imports, thirdParty []string }{
	imports:    []string{"internal/notestest", "internal/pgtest", "notes/store", "notes/vault", "search/eval", "search/index"}, // a real vault stands behind most tests, judged queries behind one
	thirdParty: []string{"github.com/stretchr/testify", "github.com/rogpeppe/go-internal"},
}

// testExtra is what the tests of one package may import beyond that.
var testExtra = map[string]struct{ imports, thirdParty []string }{
	"cmd/notesd": {thirdParty: []string{
		"github.com/tailscale/hujson",                                 // reads the settings that setup has written
		"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", // looks at the page
		"github.com/goccy/go-yaml", // reads the example for containers
	}},
	"internal/web":           {thirdParty: []string{"golang.org/x/net/html"}},           // parses what it renders
	"mcp/tools":              {thirdParty: []string{"github.com/google/jsonschema-go"}}, // validates the answers
	"examples":               {imports: []string{"internal/markdown"}},
	"internal/service":       {imports: []string{"internal/session"}}, // its owner's methods are called as commands do
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

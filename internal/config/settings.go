package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/notes"
)

// paths lists the keys whose values are paths on this machine. The paths in vault.allow
// and prompts.folder are relative to the vault; vault.folders, a table of paths, is
// handled separately.
var paths = []string{"state", "vault.path", "semantic.api_key_file", "http.token_file", "http.tls_cert", "http.tls_key", "log.file"}

// rules validate values beyond their type. A rule returns "" for a valid value, and
// otherwise the rest of the sentence "must be …".
var rules = map[string]func(v any) string{
	"vault.ignore":            each(pattern),
	"vault.allow":             each(vaultFolder),
	"vault.read_only_folders": each(vaultFolder),
	"search.mode":             oneOf("hybrid", "text", "semantic"),
	"search.limit":            between(1, 50),
	"semantic.provider":       oneOf("builtin", "ollama", "openai", "off"),
	"semantic.url":            text(httpURL),
	"semantic.threads":        between(0, 256),
	"history.keep":            between(1, 1_000_000),
	"history.age":             atLeastADay,
	"history.size":            betweenBytes(1<<20, 1<<50),
	"http.addr":               text(hostPort),
	"http.allowed_origins":    each(webOrigin),
	"limits.result_bytes":     betweenBytes(1<<10, 1<<20),
	"limits.resources":        between(1, 1_000_000),
	"limits.note_bytes":       betweenBytes(1<<10, 1<<30),
	"limits.calls_per_second": between(1, 100_000),
	"prompts.folder":          text(promptsFolder),
	"store.postgres":          databaseURL,
	"store.vault":             vaultName,
	"log.level":               oneOf("debug", "info", "warn", "error"),
}

// retired lists keys of earlier versions, which are accepted so that a configuration file
// outlives an upgrade.
var retired = []string{"limits.writes_per_second", "limits.completions_per_second", "limits.logs_per_second", "limits.progress_per_second", "limits.ping"}

func oneOf(words ...string) func(any) string {
	return func(v any) string {
		if slices.Contains(words, v.(string)) {
			return ""
		}
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
}

func between(low, high int) func(any) string {
	return func(v any) string {
		if n := v.(int); low <= n && n <= high {
			return ""
		}
		return fmt.Sprintf("from %d to %d", low, high)
	}
}

func betweenBytes(low, high Bytes) func(any) string {
	return func(v any) string {
		if n := v.(Bytes); low <= n && n <= high {
			return ""
		}
		return fmt.Sprintf("from %d to %d bytes", low, high)
	}
}

func atLeastADay(v any) string {
	if v.(time.Duration) >= 24*time.Hour {
		return ""
	}
	return "a day or more"
}

// text applies a rule to a string that may be empty.
func text(rule func(string) string) func(any) string {
	return func(v any) string {
		if s := v.(string); s != "" {
			return rule(s)
		}
		return ""
	}
}

// each applies a rule to every element of a list.
func each(rule func(string) string) func(any) string {
	return func(v any) string {
		for _, s := range v.([]string) {
			if want := rule(s); want != "" {
				return fmt.Sprintf("%s, unlike %s", want, show(s))
			}
		}
		return ""
	}
}

// escapes matches a backslash before a special character of a glob pattern; any other
// backslash separates the names in a Windows path.
var escapes = regexp.MustCompile(`\\[][{},^!#-]`)

func pattern(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), "/")
	first, _, _ := strings.Cut(strings.TrimLeft(s, "/"), "/")
	hasDrive, isOutside := len(first) == 2 && first[1] == ':', first == "~" || first == "." || first == ".."
	separates := strings.Contains(escapes.ReplaceAllString(s, ""), `\`)
	if _, err := notes.NewIgnore([]string{s}); err != nil || s == "" || hasDrive || isOutside || separates {
		return `glob patterns for names or paths in the vault, such as "*.tmp.md" or "Archive/**"`
	}
	return ""
}

func vaultFolder(s string) string {
	folder := strings.TrimRight(s, "/")
	isHome, hasDrive := folder == "~" || strings.HasPrefix(folder, "~/"), strings.Index(folder, ":/") == 1
	if !fs.ValidPath(folder) || folder == "." || isHome || hasDrive || strings.ContainsAny(s, "\\\x00") {
		return `folders inside the vault, written from its root with "/", such as "work/Journal"`
	}
	return ""
}

func promptsFolder(s string) string {
	if filepath.IsAbs(s) || s == "~" || strings.HasPrefix(s, "~/") || vaultFolder(path.Clean(s)) == "" {
		return ""
	}
	return "a folder inside the vault, or an absolute path"
}

// httpURL accepts the base URL of an API. It rejects user names and passwords, because
// logs and the status show the URL.
func httpURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return `a URL such as "http://127.0.0.1:11434", without a user, a query or a fragment`
	}
	return ""
}

// databaseURL checks only the form; the driver, which is loaded on first use, checks
// the rest.
func databaseURL(v any) string {
	if u, err := url.Parse(string(v.(Address))); v.(Address) != "" && (err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return `a URL such as "postgres://user@host/database"`
	}
	return ""
}

// String returns the address without its password.
func (a Address) String() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return "(no URL)"
	}
	if query := u.Query(); query.Has("password") {
		query.Set("password", "xxxxx")
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}

func vaultName(v any) string {
	if s := v.(string); s == "" || len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/\%?#"`, r) }) {
		return `a name such as "notes", without spaces and slashes`
	}
	return ""
}

func hostPort(s string) string {
	_, port, err := net.SplitHostPort(s)
	if n, errPort := strconv.Atoi(port); err != nil || errPort != nil || n < 0 || n > 65535 {
		return `an address such as "127.0.0.1:8931"`
	}
	return ""
}

func webOrigin(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != s {
		return `origins such as "https://example.org:8443"`
	}
	return ""
}

// setting describes one key, derived from a field of Config.
type setting struct {
	key  string // "vault.read_only"
	typ  reflect.Type
	def  any                       // the default
	want func(v any) (want string) // rule for v, or nil; see rules
	path bool                      // whether to make the value an absolute path
}

var (
	typeBool     = reflect.TypeFor[bool]()
	typeInt      = reflect.TypeFor[int]()
	typeString   = reflect.TypeFor[string]()
	typeStrings  = reflect.TypeFor[[]string]()
	typeFolders  = reflect.TypeFor[Folders]()
	typeBytes    = reflect.TypeFor[Bytes]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeAddress  = reflect.TypeFor[Address]()
)

// settings lists all keys, sorted.
var settings = makeSettings()

func makeSettings() []setting {
	var all []setting
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for field, value := range v.Fields() {
			key := prefix + field.Tag.Get("koanf")
			if key == prefix+"-" {
				continue // set by Load, not by a layer
			}
			if field.Type.Kind() == reflect.Struct {
				walk(key+".", value)
				continue
			}
			all = append(all, setting{
				key:  key,
				typ:  field.Type,
				def:  value.Interface(),
				want: rules[key],
				path: slices.Contains(paths, key),
			})
		}
	}
	walk("", reflect.ValueOf(Default()))
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	return all
}

// find returns the setting with the given key.
func find(key string) (setting, bool) {
	i, ok := slices.BinarySearchFunc(settings, key, func(s setting, key string) int { return strings.Compare(s.key, key) })
	if !ok {
		return setting{}, false
	}
	return settings[i], true
}

// isSection reports whether key is the name of a section.
func isSection(key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// variable returns the name of the key's environment variable.
func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

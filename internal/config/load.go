package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Sources are the sources of settings. The zero value has no environment and no flags,
// and hence no file either.
type Sources struct {
	File  string         // must exist; empty: notesd.toml in the configuration directory, if it exists
	Env   []string       // in the form of os.Environ
	Flags *pflag.FlagSet // parsed; only flags that are set and have a key apply
}

// entry is a setting of one layer.
type entry struct {
	key    string
	value  any
	origin string
}

// origin is the origin of a merged value.
type origin struct {
	place  string // for messages
	dir    string // base of relative paths
	passed bool   // by the environment or a flag
}

// loader merges the layers and collects their problems.
type loader struct {
	env      environment
	dir      string
	file     string // path of the configuration file, which need not exist
	merged   *koanf.Koanf
	origins  map[string]origin // of the merged values
	problems []Problem
	unknown  []Problem // variables and retired keys, which are warnings only

	fileVault string // vault.path in the file
}

// Load merges the sources and checks the result. The error is an [*Error] with all
// problems.
func Load(src Sources) (*Loaded, error) {
	dir, _ := os.Getwd() // fails if it was deleted; only relative paths need it
	l := &loader{env: newEnvironment(src.Env), dir: dir, merged: koanf.New("."), origins: map[string]origin{}}
	for _, s := range settings {
		l.set(s.key, s.def)
	}
	l.mergeFile(src.File)
	l.merge(l.envEntries(), dir, false)
	l.merge(flagEntries(src.Flags), dir, false)
	cfg := new(Config)
	if err := l.merged.Unmarshal("", cfg); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	l.checkWhole(cfg)
	if len(l.problems) > 0 {
		return nil, &Error{Problems: l.problems}
	}
	return &Loaded{Config: cfg, File: l.file, Unknown: l.unknown, merged: l.merged, origins: l.origins}, nil
}

func (l *loader) mergeFile(name string) {
	required := name != ""
	if required {
		name = l.expand(name, l.dir)
	} else {
		if name = l.env.defaultFile(); name == "" {
			return // containers and system services have no home directory
		}
	}
	l.file = name
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !required:
		return
	case err != nil:
		l.report(Problem{Origin: name, Detail: "cannot be read: " + reason(err)})
		return
	}
	entries, problems := parseFile(name, data)
	l.problems = append(l.problems, problems...)
	l.merge(entries, filepath.Dir(name), true)
	l.fileVault = l.merged.String("vault.path")
}

// merge checks the entries of a layer and overrides the layers below with the valid
// ones. Relative paths are resolved against dir.
func (l *loader) merge(entries []entry, dir string, fromFile bool) {
	vault := "" // the key that sets the vault in this layer
	for _, e := range entries {
		if text, ok := e.value.(string); ok && e.key == "vault.path" && !fromFile && l.isFolders(text, dir) {
			e.key = "vault.folders"
		}
		s, known := find(e.key)
		if slices.Contains(retired, e.key) {
			l.unknown = append(l.unknown, Problem{Origin: e.origin, Key: e.key, Detail: "is no longer a setting and has no effect"})
			continue
		}
		if !known {
			l.report(Problem{Origin: e.origin, Key: e.key, Detail: "is not a known key", Hint: suggest(e.key)})
			continue
		}
		v, err := l.check(s, e.value, dir, fromFile)
		if err != nil {
			p := Problem{Origin: e.origin, Key: e.key, Value: show(e.value), Detail: err.Error()}
			if s.typ == typeAddress {
				p.Value = "" // it may contain a password
			}
			l.report(p)
			continue
		}
		if other := map[string]string{"vault.path": "vault.folders", "vault.folders": "vault.path"}[e.key]; other != "" && fmt.Sprint(v) != "" {
			if vault == other {
				l.report(Problem{Origin: e.origin, Key: e.key, Value: show(v), Detail: "is a second vault beside " + other, Hint: "set one of the two"})
			}
			vault = e.key
			s, _ := find(other)
			l.set(other, s.def)
			delete(l.origins, other)
		}
		l.set(e.key, v)
		l.origins[e.key] = origin{e.origin, dir, !fromFile}
	}
}

// check converts a value to the type of its field in Config and validates it.
func (l *loader) check(s setting, raw any, dir string, fromFile bool) (any, error) {
	var v any
	var err error
	if fromFile {
		v, err = fromTOML(raw, s.typ)
	} else {
		v, err = fromText(raw.(string), s.typ)
	}
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok && s.path && text != "" {
		path := l.expand(text, dir)
		if !filepath.IsAbs(path) {
			return nil, errRelative
		}
		v = path
	}
	if folders, ok := v.(Folders); ok {
		if v, err = folders.resolved(func(path string) string { return l.expand(path, dir) }); err != nil {
			return nil, err
		}
	}
	if s.want != nil {
		if want := s.want(v); want != "" {
			return nil, errors.New("must be " + want)
		}
	}
	return v, nil
}

func (l *loader) set(key string, v any) {
	if err := l.merged.Set(key, v); err != nil {
		panic(err) // cannot happen: no setting is a section
	}
}

// blame reports a problem with the merged value of key.
func (l *loader) blame(key string, value any, detail, hint string) {
	l.report(Problem{Origin: cmp.Or(l.origins[key].place, "default"), Key: key, Value: show(value), Detail: detail, Hint: hint})
}

func (l *loader) report(p Problem) { l.problems = append(l.problems, p) }

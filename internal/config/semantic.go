package config

import (
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode"
)

// Secret is a string that is replaced by a placeholder when it is formatted or
// marshalled.
type Secret string

// String returns a placeholder.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString returns a placeholder.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Models in the program, as Semantic.Model names them. Auto, which an empty name
// stands for, is English.
const (
	Auto         = "auto"
	English      = "english"
	Multilingual = "multilingual"
)

// Remote reports whether a server computes the vectors.
func (s Semantic) Remote() bool { return s.Provider == "ollama" || s.Provider == "openai" }

func (l *loader) checkSemantic(s *Semantic) {
	if s.Provider == "builtin" && !slices.Contains([]string{"", Auto, English, Multilingual}, s.Model) {
		s.Model = l.expand(s.Model, l.origins["semantic.model"].dir)
		l.checkFile("semantic.model", s.Model)
	}
	if s.Provider == "openai" && s.URL == "" {
		l.blame("semantic.url", s.URL, "must be set when semantic.provider is openai", "")
	}
	if s.Provider == "openai" && s.Model == "" {
		l.blame("semantic.model", s.Model, "must be set when semantic.provider is openai", "")
	}
	if s.URL != "" && !s.AllowRemote && !isLocal(s.URL) {
		l.blame("semantic.url", s.URL, "is another machine",
			"set semantic.allow_remote = true to send the text of notes there")
	}
	if !s.Remote() {
		return
	}
	s.APIKey = l.apiKey(s.APIKeyFile)
	if s.APIKey != "" && strings.HasPrefix(s.URL, "http:") && !isLocal(s.URL) {
		l.blame("semantic.url", s.URL, "would carry the API key over the network in the clear", "use https")
	}
}

// apiKey returns the API key from the environment or, without one, from file.
func (l *loader) apiKey(file string) Secret {
	origin, text := APIKeyVariable, l.env[APIKeyVariable]
	if text == "" && file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			l.blame("semantic.api_key_file", file, "cannot be read: "+reason(err), "")
			return ""
		}
		origin = file
		text, _, _ = strings.Cut(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		if strings.TrimSpace(text) == "" {
			l.blame("semantic.api_key_file", file, "has no key on its first line", "")
		}
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxASCII || r == ' ' }) {
		l.report(Problem{Origin: origin, Detail: "is not an API key: it must be one word of printable ASCII characters"})
		return ""
	}
	return Secret(text)
}

// isLocal reports whether a URL's host is this machine. It does not query a name
// server.
func isLocal(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Package notesd embeds the configuration file that documents every setting, for
// "notesd config --example", because an installed program has no repository.
package notesd

import _ "embed"

// ExampleConfig is notesd.example.toml, which documents every setting.
//
//go:embed notesd.example.toml
var ExampleConfig string

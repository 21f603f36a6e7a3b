// Package notesd holds the configuration file that documents every setting, for
// "notesd config --example": an installed program comes without the repository.
package notesd

import _ "embed"

// ExampleConfig is notesd.example.toml, which documents every setting.
//
//go:embed notesd.example.toml
var ExampleConfig string

// Package notesd holds the configuration file that documents every setting, for
// "notesd config --example": an installed program comes without the repository.
package notesd

import _ "embed"

//go:embed notesd.example.toml
var ExampleConfig string

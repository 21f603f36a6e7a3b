//go:build !unix

package kernel

import "testing"

func guarded(_ *testing.T, size int) []byte { return make([]byte, size) }

//go:build arm64 && !purego && !windows

package kernel

import "golang.org/x/sys/cpu"

func hasI8MM() bool { return cpu.ARM64.HasI8MM }

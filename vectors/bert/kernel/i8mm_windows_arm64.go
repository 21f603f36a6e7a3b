//go:build !purego

package kernel

import "golang.org/x/sys/windows"

// hasI8MM asks Windows itself, which golang.org/x/sys/cpu does not do yet. A version
// that does not know the feature reports false.
func hasI8MM() bool {
	return windows.IsProcessorFeaturePresent(windows.PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE)
}

//go:build !purego

package kernel

import "golang.org/x/sys/windows"

// hasI8MM queries Windows, which golang.org/x/sys/cpu does not do yet. Versions that
// do not know the feature report false.
func hasI8MM() bool {
	return windows.IsProcessorFeaturePresent(windows.PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE)
}

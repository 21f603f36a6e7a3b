//go:build !unix

package notes

const openNonblock = 0

// keepsUnlinked: a file can be read on after its last name is gone.
const keepsUnlinked = false

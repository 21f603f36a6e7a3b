//go:build !unix

package fsid

const OpenNonblock = 0

// KeepsUnlinked: a file can be read on after its last name is gone.
const KeepsUnlinked = false

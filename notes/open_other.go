//go:build !unix

package notes

const openNonblock = 0

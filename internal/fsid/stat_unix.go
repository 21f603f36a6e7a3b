//go:build !windows

package fsid

import "os"

// RootIdentity tells the vault's folder from another one in its place.
func RootIdentity(root *os.Root) (Identity, error) {
	info, err := root.Stat(".")
	if err != nil {
		return Identity{}, err
	}
	return IdentityOf(info), nil
}

//go:build !windows

package notes

import "os"

// rootIdentity tells the vault's folder from another one in its place.
func rootIdentity(root *os.Root) (identity, error) {
	info, err := root.Stat(".")
	if err != nil {
		return identity{}, err
	}
	return identityOf(info), nil
}

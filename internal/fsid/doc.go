// Package fsid says what each platform knows of a file's identity: the device
// and inode that tell one folder from another in its place, the times that show
// a change without reading the file, the exact spelling of a name on a disk that
// folds case, mount points, hard links, and locks of other programs.
//
// Where a system does not have such a number it is zero, and callers then rely
// on size, modification time and hash alone.
package fsid

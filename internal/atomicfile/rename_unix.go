//go:build unix && !linux && !darwin

package atomicfile

import "errors"

func renameNoReplace(*Dir, string, *Dir, string) error { return errors.ErrUnsupported }

func exchange(*Dir, string, string) error { return errors.ErrUnsupported }

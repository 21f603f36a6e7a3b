package mirror

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"
)

// copyMark begins what the name of a conflict copy has in addition to the file's.
const copyMark = " (conflict "

// maxStem is the number of bytes of a file's name that its conflict copies keep. The mark and an
// extension still fit into the 255 bytes that file systems allow.
const maxStem = 175

// copyStem returns how the names of the file's conflict copies begin, and their extension.
func copyStem(file string) (stem, ext string) {
	ext = path.Ext(file)
	folder, name := path.Split(strings.TrimSuffix(file, ext))
	return folder + strings.ToValidUTF8(name[:min(len(name), maxStem)], ""), ext // the cut may be in a character
}

// isCopyOf reports whether p is the name of a conflict copy of the file.
func isCopyOf(p, file string) bool {
	stem, ext := copyStem(file)
	return strings.HasPrefix(p, stem+copyMark) && strings.HasSuffix(p, ")"+ext)
}

// copyName returns the name of a conflict copy.
func copyName(file, who string, now time.Time, n int) string {
	stem, ext := copyStem(file)
	mark := fmt.Sprintf(copyMark+"%s %s", now.Format("2006-01-02 150405"), cleanName(who))
	if n > 1 {
		mark += fmt.Sprintf(" %d", n)
	}
	return stem + mark + ")" + ext
}

// cleanName replaces characters in a name that some file systems reject.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|#^[]`, r) {
			return '-'
		}
		return r
	}, name)
	return strings.Trim(strings.ToValidUTF8(name[:min(len(name), 40)], ""), " .") // as in copyStem
}

// freeCopy returns an unused name for a conflict copy.
func (w *work) freeCopy(ctx context.Context, file string) (string, error) {
	for n := 1; ; n++ {
		name := copyName(file, w.m.opt.Author.Name, w.m.opt.Now(), n)
		files, _, err := w.m.vault.Replica().Files(ctx, []string{name}, 0)
		if err != nil || len(files) == 0 {
			return name, err
		}
	}
}

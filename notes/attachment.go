package notes

import (
	"time"
)

// Attachment is a file linked from a note, such as a picture, a PDF or a recording. Its
// URI has the same form as that of a note.
type Attachment struct {
	Path      string // vault-relative, NFC
	MediaType string // determined by the extension, else by the first bytes
	Size      int64
	Modified  time.Time
	Data      []byte // nil in lists
}

// MaxAttachmentBytes is the size of the largest attachment that can be read: the same
// as for a note, and small enough for a message that clients accept.
const MaxAttachmentBytes = 16 << 20

package notes

// Status is the state of the vault.
type Status struct {
	Root         string            // the vault's folder, or "NAME=PATH,…" if there are several
	Dirs         map[string]string // folder paths by name, which is "" if there is one folder
	Notes        int
	Seq          uint64 // of the newest change
	Scanning     bool
	Scanned      int // out of ToScan, while Scanning
	ToScan       int
	Incomplete   bool      // notes are known to be missing or out of date
	Skipped      []Skipped // the first skipped files
	SkippedTotal int
	Unavailable  string // why the vault cannot be used at the moment; "" if it can
	Remedy       string // what to do about it, in full sentences
	Trouble      string // why changes on disk cannot be recorded; recording is retried
	Warnings     []string
}

// Skipped is a file with the name of a note that cannot be one, and the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

package notes

// A Graph is the notes of a vault and the links between them.
type Graph struct {
	Nodes []Node   `json:"nodes"`
	Links [][2]int `json:"links"` // from, to: indexes of Nodes
}

// A Node is a note in a [Graph].
type Node struct {
	Path  string `json:"path"`
	Title string `json:"title,omitempty"` // if it differs from the file name
}

// Targets are the paths that the links of a note lead to, by target as written, without the
// anchor.
type Targets struct {
	Notes map[string]string `json:"notes"`
	Files map[string]string `json:"files"` // other files
}

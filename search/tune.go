package search

// persisterOptions and mergeOptions shape Bleve's background work.
var (
	persisterOptions = map[string]any{"PersisterNapTimeMSec": 1500}
	mergeOptions     = map[string]any{}
)

package search

import (
	"flag"
	"io"
	"log"
	"os"
	"testing"

	"notesd/search/index"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" { // benchmarks use the production settings
		index.PersistNap = 20
	}
	log.SetOutput(io.Discard) // Bleve logs damage caused by tests
	os.Exit(m.Run())
}

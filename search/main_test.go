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
	if flag.Lookup("test.bench").Value.String() == "" { // benchmarks measure what users have
		index.PersistNap = 20
	}
	log.SetOutput(io.Discard) // Bleve's word on damage that tests have made
	os.Exit(m.Run())
}

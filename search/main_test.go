package search

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" { // benchmarks measure what users have
		persistNap = 20
	}
	os.Exit(m.Run())
}

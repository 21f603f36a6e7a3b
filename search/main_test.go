package search

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	persistNap = 20
	os.Exit(m.Run())
}

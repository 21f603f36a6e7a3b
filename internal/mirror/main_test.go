package mirror

import (
	"os"
	"testing"

	"notesd/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

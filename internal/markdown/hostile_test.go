package markdown

import (
	"testing"
	"time"

	"notesd/internal/markdown/mdtest"
)

func TestHostileTextTakesLinearTime(t *testing.T) {
	mdtest.RequireLinear(t, 1<<18, time.Millisecond, func(src []byte) {
		Chunks(src, Parse(src))
	})
}

package jsonrpc

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 3*readBuffer)
	tooLong := strings.Repeat("y", 5*readBuffer)
	in := "\uFEFFa\n \t\n" + long + "\n\uFEFFb\r\n" + tooLong + "!}\nc\nrest"
	for name, stream := range map[string]io.Reader{
		"at once":      strings.NewReader(in),
		"byte by byte": iotest.OneByteReader(strings.NewReader(in)),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(stream, 4*readBuffer)
			for _, want := range []string{"a\n", long + "\n", "\uFEFFb\r\n"} {
				line, err := r.Next()
				require.NoError(t, err)
				require.Equal(t, want, string(line))
			}
			_, err := r.Next()
			require.ErrorIs(t, err, ErrLineTooLong)
			line, err := r.Next()
			require.NoError(t, err)
			assert.Equal(t, "c\n", string(line))
			line, err = r.Next()
			require.NoError(t, err)
			assert.Equal(t, "rest", string(line))
			_, err = r.Next()
			assert.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestLineReaderEndsInALineThatIsTooLong(t *testing.T) {
	r := NewReader(strings.NewReader(strings.Repeat("y", 5*readBuffer)), 2*readBuffer)
	_, err := r.Next()
	require.ErrorIs(t, err, ErrLineTooLong)
	_, err = r.Next()
	assert.ErrorIs(t, err, io.EOF)
}

// The limit excludes the line ending, whatever it is.
func TestReaderBoundsShortLines(t *testing.T) {
	r := NewReader(strings.NewReader("12345\r\n12345678\n12345"), 5)
	line, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, "12345\r\n", string(line))
	_, err = r.Next()
	require.ErrorIs(t, err, ErrLineTooLong)
	line, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, "12345", string(line))
}

func TestLineReaderGivesMemoryBack(t *testing.T) {
	r := NewReader(strings.NewReader(strings.Repeat("x", 4*keepBuffer)+"\nb\n"), 8*keepBuffer)
	_, err := r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(r.long), keepBuffer)
}

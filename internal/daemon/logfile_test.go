package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogFileIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notesd.log")
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o644))
	log, err := OpenLog(path, 30, 2)
	require.NoError(t, err)
	for i := range 9 {
		n, err := fmt.Fprintf(log, "line number %d\n", i)
		require.NoError(t, err)
		assert.Equal(t, 14, n)
	}
	require.NoError(t, log.Close())
	require.NoError(t, log.Close())
	_, err = log.Write([]byte("late"))
	require.ErrorIs(t, err, os.ErrClosed)

	for name, want := range map[string]string{
		path: "line number 7\nline number 8\n", path + ".1": "line number 5\nline number 6\n", path + ".2": "line number 3\nline number 4\n",
	} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "%s is for the user alone", name)
	}
	assert.NoFileExists(t, path+".3")
}

func TestLogFileTakesALineThatIsTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notesd.log")
	log, err := OpenLog(path, 10, 1)
	require.NoError(t, err)
	defer log.Close()
	for range 3 {
		_, err = log.Write([]byte(strings.Repeat("x", 100)))
		require.NoError(t, err)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 100, info.Size())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "one old file is kept")
}

func TestLogFileGoesOnWhenItCannotBeSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notesd.log")
	require.NoError(t, os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700))
	log, err := OpenLog(path, 10, 1)
	require.NoError(t, err)
	defer log.Close()
	_, err = log.Write([]byte("first line\n"))
	require.NoError(t, err)
	n, err := log.Write([]byte("second line\n"))
	require.Error(t, err, "it is said that it grows")
	assert.Equal(t, 12, n)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "first line\nsecond line\n", string(data))
}

// A rotation empties the file that it has copied, not one that was renamed by another program.
func TestLogFile_RenamedByAnother(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not rename an open file")
	}
	path := filepath.Join(t.TempDir(), "notesd.log")
	log, err := OpenLog(path, 10, 1)
	require.NoError(t, err)
	defer log.Close()
	_, err = log.Write([]byte("first\n"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, os.WriteFile(path, []byte("new\n"), 0o600))
	_, err = log.Write([]byte("second\n"))
	require.NoError(t, err)
	for name, want := range map[string]string{path + ".old": "first\nsecond\n", path + ".1": "new\n", path: ""} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(data), name)
	}
}

func TestLogFileFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notesd.log")
	log, err := OpenLog(path, 1000, 100)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, err := log.Write([]byte("0123456789\n"))
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.NoError(t, log.Close())
	lines := 0
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(data), 1000)
		lines += strings.Count(string(data), "0123456789\n")
	}
	assert.Equal(t, 800, lines)
}

func TestLogFileThatCannotBeOpened(t *testing.T) {
	_, err := OpenLog(filepath.Join(t.TempDir(), "no", "notesd.log"), 10, 1)
	require.ErrorContains(t, err, "open log file")
}

// The runtime's crash output is logged even after a rotation.
func TestLogFileStaysStandardError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notesd.log")
	log, err := OpenLog(path, 10, 1)
	require.NoError(t, err)
	defer log.Close()
	held, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // open, as standard error keeps it
	require.NoError(t, err)
	defer held.Close()
	for range 2 {
		_, err = log.Write([]byte("a line\n"))
		require.NoError(t, err)
	}
	_, err = held.WriteString("crash\n")
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a line\ncrash\n", string(data))
}

package model

import (
	"encoding/binary"
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A vault in English uses memory only for its own model: no page of the other one is
// resident in the embedding process. The test runs in a separate process, because other
// tests read both models.
func TestUnusedModelTakesNoMemory(t *testing.T) {
	const variable = "TEST_PAGES_OF_MODELS"
	if os.Getenv(variable) == "" {
		test := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		test.Env = append(os.Environ(), variable+"=1")
		output, err := test.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return
	}
	m, err := English()
	require.NoError(t, err)
	require.NoError(t, m.NewEncoder().Embed(t.Context(), "The keel of a wooden boat", make([]float32, m.Dim())))
	used, unused := pagesOf(t, english), pagesOf(t, multilingual)
	assert.Greater(t, used, 100, "the weights of the layers are 10 MB")
	assert.Less(t, unused, 1100, "the kernel maps whole folios of the page cache, of up to 2 MB, around those of other data at either end")
}

// pagesOf returns the number of pages of a text mapped into the process's memory.
func pagesOf(t *testing.T, text string) (pages int) {
	t.Helper()
	file, err := os.Open("/proc/self/pagemap")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	size := uintptr(os.Getpagesize())
	from := uintptr(unsafe.Pointer(unsafe.StringData(text)))/size + 1
	entries := make([]byte, 8*(uintptr(len(text))/size-1))
	_, err = file.ReadAt(entries, int64(8*from))
	require.NoError(t, err)
	const present = 1 << 63
	for i := 0; i < len(entries); i += 8 {
		if binary.LittleEndian.Uint64(entries[i:])&present != 0 {
			pages++
		}
	}
	return pages
}

package flat_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/vectors/flat"
)

const dim = 12

func open(t *testing.T, path, header string) *flat.File {
	t.Helper()
	f, err := flat.Open(path, []byte(header), flat.RecordSize(dim))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

// record returns the record of a vector derived from n.
func record(n int) []byte {
	r := make([]byte, flat.RecordSize(dim))
	binary.LittleEndian.PutUint64(r, uint64(n))
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	flat.PutVector(r, v)
	return r
}

func records(from, to int) (data []byte) {
	for n := from; n < to; n++ {
		data = append(data, record(n)...)
	}
	return data
}

func requireRecords(t *testing.T, f *flat.File, numbers ...int) {
	t.Helper()
	require.Equal(t, len(numbers), f.N)
	for i, n := range numbers {
		require.Equal(t, record(n), f.At(i), "record %d", i)
	}
}

func TestFile_Reopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f := open(t, path, "header 1")
	requireRecords(t, f)
	require.NoError(t, f.Append(records(0, 3)))
	require.NoError(t, f.Overwrite(1, record(9)))
	requireRecords(t, f, 0, 9, 2)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "Close may be called again")

	f = open(t, path, "header 1")
	requireRecords(t, f, 0, 9, 2)
	require.NoError(t, f.Append(records(3, 4)))
	requireRecords(t, f, 0, 9, 2, 3)
	require.NoError(t, f.Close())

	f = open(t, path, "header 2")
	requireRecords(t, f)
	require.NoError(t, f.Append(records(5, 6)))
	require.NoError(t, f.Close())
	requireRecords(t, open(t, path, "header 2"), 5)
}

// An incomplete record, as left by a crash, is dropped and overwritten.
func TestFile_IncompleteRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f := open(t, path, "h")
	require.NoError(t, f.Append(records(0, 2)))
	require.NoError(t, f.Close())
	require.NoError(t, os.Truncate(path, int64(flat.HeaderSize+flat.RecordSize(dim)+5)))
	f = open(t, path, "h")
	requireRecords(t, f, 0)
	require.NoError(t, f.Append(records(7, 9)))
	requireRecords(t, f, 0, 7, 8)
	require.NoError(t, f.Close())
	requireRecords(t, open(t, path, "h"), 0, 7, 8)
}

func TestFile_Truncate(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "x"), "h")
	require.NoError(t, f.Append(records(0, 4)))
	f.Truncate(1)
	requireRecords(t, f, 0)
	require.NoError(t, f.Append(records(10, 12)))
	requireRecords(t, f, 0, 10, 11)
}

// Appends may start and end anywhere relative to segment boundaries.
func TestFile_Segments(t *testing.T) {
	const n = flat.RecordsPerSegment
	path := filepath.Join(t.TempDir(), "x")
	f := open(t, path, "h")
	want := 0
	for _, count := range []int{n - 1, 1, 1, 2*n + 5, n - 6, 3} {
		require.NoError(t, f.Append(records(want, want+count)))
		want += count
		require.Equal(t, want, f.N)
	}
	check := func() {
		for _, i := range []int{0, 1, n - 2, n - 1, n, n + 1, 2*n - 1, 2 * n, 3*n - 1, 3 * n, 3*n + 1, want - 1} {
			require.Equal(t, record(i), f.At(i), "record %d", i)
		}
	}
	check()
	require.NoError(t, f.Overwrite(2*n, record(2*n)))
	check()
	require.NoError(t, f.Close())
	f = open(t, path, "h")
	require.Equal(t, want, f.N)
	check()
}

func TestOpen_UnusablePath(t *testing.T) {
	_, err := flat.Open(filepath.Join(t.TempDir(), "missing", "x"), nil, 64)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = flat.Open(t.TempDir(), nil, 64)
	require.Error(t, err)
}

// A flipped bit anywhere in a record is in its checksum or changes it.
func TestChecksum_FlippedBits(t *testing.T) {
	r := record(1)
	stored := func() uint32 { return binary.LittleEndian.Uint32(r[20:]) }
	require.Equal(t, flat.Checksum(r), stored())
	for i := range 8 * len(r) {
		r[i/8] ^= 1 << (i % 8)
		assert.NotEqual(t, flat.Checksum(r), stored(), "bit %d", i)
		r[i/8] ^= 1 << (i % 8)
	}
	assert.NotZero(t, flat.Checksum(make([]byte, len(r))), "zeros are no valid record")
}

func TestVectorOf_Precision(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 7, 8, 9, 384} {
		v := notestest.Clustered(rng, 1, d, 1)[0]
		r := make([]byte, flat.RecordSize(d))
		flat.PutVector(r, v)
		got := flat.VectorOf(r, d)
		require.Len(t, got.Values, d)
		largest := 0.0
		for _, x := range v {
			largest = max(largest, math.Abs(float64(x)))
		}
		for i, x := range v {
			assert.InDelta(t, x, got.Scale*float32(got.Values[i]), largest/127/2+1e-6, "dimension %d of %d", i, d)
		}
	}
	zero := make([]byte, flat.RecordSize(3))
	flat.PutVector(zero, []float32{0, 0, 0})
	assert.Equal(t, flat.Vector{Values: []int8{0, 0, 0}}, flat.VectorOf(zero, 3))
}

func TestSignWords(t *testing.T) {
	for d, words := range map[int]int{1: 1, 63: 1, 64: 1, 65: 2, 384: 6} {
		assert.Equal(t, words, flat.SignWords(d))
	}
}

func TestNormalised(t *testing.T) {
	assert.Equal(t, []float32{0, 0}, flat.Normalised([]float32{0, 0}))
	assert.Equal(t, []float32{1, 0}, flat.Normalised([]float32{1e-39, 0}))
	v := flat.Normalised([]float32{3e15, -4e15})
	assert.InDeltaSlice(t, []float32{0.6, -0.8}, v, 1e-6)
}

func TestOpen_UnreadableFile(t *testing.T) {
	const unreadable = "/proc/self/mem" // reading its start fails like reading a damaged disk
	if _, err := os.Stat(unreadable); err != nil {
		t.Skip("this system has no such file")
	}
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.Symlink(unreadable, path))
	f := open(t, path, "h")
	require.NoError(t, f.Append(records(0, 2)))
	require.NoError(t, f.Close())
	requireRecords(t, open(t, path, "h"), 0, 1)
}

func TestAppend_TruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f := open(t, path, "h")
	require.NoError(t, f.Append(records(0, 3)))
	require.NoError(t, os.Truncate(path, flat.HeaderSize+5))
	require.ErrorIs(t, f.Append(records(3, 4)), flat.ErrUnreadable)
	requireRecords(t, open(t, path, "h"))
}

func TestGuard(t *testing.T) {
	require.NoError(t, flat.Guard(func() {}))
	require.PanicsWithValue(t, "bug", func() { _ = flat.Guard(func() { panic("bug") }) })
	var nothing *flat.File
	require.Panics(t, func() { _ = flat.Guard(func() { nothing.Truncate(0) }) }, "that is a bug too")
}

package bert

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/bert/kernel"
)

var update = flag.Bool("update", false, "write the vectors' digests instead of comparing them")

// bundled is the model file in package model, which imports this package.
const bundled = "../model/all-MiniLM-L6-v2.ndmodel"

// reference is the output of other implementations for a text, written by
// vectors/model/convert/reference/compare.py.
type reference struct {
	Text   string  `json:"text"`
	Repeat int     `json:"repeat"`
	IDs    []int32 `json:"ids"`
	Vector string  `json:"vector"` // base64 of int16: float32 times 32767
}

func (r *reference) text() string { return strings.Repeat(r.Text, r.Repeat) }

func (r *reference) vector(t *testing.T) []float64 {
	data, err := base64.StdEncoding.DecodeString(r.Vector)
	require.NoError(t, err)
	var v []float64
	for i := 0; i < len(data); i += 2 {
		v = append(v, float64(int16(binary.LittleEndian.Uint16(data[i:])))/32767)
	}
	return v
}

func readReferences(t *testing.T) []reference {
	f, err := os.Open("testdata/reference.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []reference
	for dec := json.NewDecoder(f); dec.More(); {
		var r reference
		require.NoError(t, dec.Decode(&r))
		all = append(all, r)
	}
	require.NotEmpty(t, all)
	return all
}

// openTier opens the bundled model with the kernels of a tier.
func openTier(t testing.TB, tier string) *Model { return openFileTier(t, bundled, tier) }

func openFileTier(t testing.TB, path, tier string) *Model {
	t.Setenv(TierVariable, tier)
	m, err := OpenFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

// TestReference compares token ids and vectors with those of the reference
// tokenizer and the original weights in float32.
func TestReference(t *testing.T) {
	m := openTier(t, "")
	var sum float64
	references := readReferences(t)
	for _, r := range references {
		text := r.text()
		assert.Equal(t, r.IDs, m.TokenIDs(text), "%.50q", text)
		c := cosine(embed(t, m, text), r.vector(t))
		assert.GreaterOrEqual(t, c, 0.985, "%.50q", text)
		sum += c
	}
	assert.GreaterOrEqual(t, sum/float64(len(references)), 0.998)
}

// slowTokens is the maximum length of texts for the slowest tier.
const slowTokens = 12

// TestSameBits compares every tier's vectors with digests in testdata, bit by bit, so
// that all CPUs agree. After an intended change of the arithmetic, increment the constant
// numerics and write new digests with -update.
func TestSameBits(t *testing.T) {
	const golden = "testdata/digests.txt"
	references := readReferences(t)
	if *update {
		writeDigests(t, golden, references)
	}
	want := readLines(t, golden)
	require.Len(t, want, len(references))
	for _, tier := range kernel.Tiers() {
		t.Run(tier, func(t *testing.T) {
			m := openTier(t, tier)
			for i, r := range references {
				if tier == "purego" && len(r.IDs) > slowTokens {
					continue
				}
				require.Equal(t, want[i], digest(embed(t, m, r.text())), "%.50q", r.text())
			}
		})
	}
}

// TestSameBitsMultilingual does the same for a few texts with the other model, whose word
// embeddings have four bits.
func TestSameBitsMultilingual(t *testing.T) {
	for _, tier := range kernel.Tiers() {
		t.Run(tier, func(t *testing.T) {
			m := openFileTier(t, "../model/multilingual-e5-small.ndmodel", tier)
			for text, want := range map[string]string{
				"":                                "f1e53cb5d3451e5b",
				"query: 如何解除租房合同？":                "70b05e8412464432",
				"passage: Heizung entlüften: auf": "752549c2a637bb48",
			} {
				assert.Equal(t, want, digest(embed(t, m, text)), "%q", text)
			}
		})
	}
}

// digest is a short hash of a vector's bits.
func digest(vec []float32) string {
	var b []byte
	for _, v := range vec {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))[:16]
}

func writeDigests(t *testing.T, path string, references []reference) {
	m := openTier(t, "")
	var lines strings.Builder
	for _, r := range references {
		fmt.Fprintln(&lines, digest(embed(t, m, r.text())))
	}
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o644))
}

func readLines(t *testing.T, path string) []string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// TestMeaning checks that texts with the same meaning are close.
func TestMeaning(t *testing.T) {
	m := openTier(t, "")
	similarity := func(a, b string) float64 { return cosine(embed(t, m, a), float64s(embed(t, m, b))) }
	for _, c := range []struct{ query, near, far string }{
		{"how to fix a flat tyre", "Remove the wheel, take out the inner tube and patch the puncture.", "Interest is due at the end of each quarter."},
		{"sick leave", "If you are ill, tell your manager before nine and hand in a doctor's note.", "The illness of the dollar worried investors."},
		{"undo last commit", "git reset --soft HEAD~1 moves the branch back and keeps your changes.", "She committed to finishing the marathon."},
	} {
		assert.Greater(t, similarity(c.query, c.near), similarity(c.query, c.far)+0.1, c.query)
	}
}

// Letters of the bundled model's languages are known; those of other scripts are not.
func TestKnows(t *testing.T) {
	m := openTier(t, "")
	for _, text := range []string{
		"How do I undo the last commit?", "kubernetes ingress nginx configmap", "Der Vermieter hat die Abrechnung geschickt",
		"La bibliothèque ferme à dix-neuf heures", "Příliš žluťoučký kůň úpěl ďábelské ódy", "2024-01-01", "",
	} {
		known, _ := m.Knows(text)
		assert.Greater(t, known, 0.9, text)
	}
	for _, text := range []string{
		"Привет! Завтра встречаемся в шесть", "会议改到星期四下午三点", "今日は朝から雨が降っていた", "회의록을 정리해서",
		"الاجتماع القادم يوم الأحد", "วันนี้อากาศดีมาก", "Καλημέρα κόσμε",
	} {
		known, _ := m.Knows(text)
		assert.Less(t, known, 0.2, text)
	}
	known, whole := m.Knows("hello мир")
	assert.InDelta(t, 0.6, known, 0.05)
	assert.InDelta(t, 0.6, whole, 0.05)
}

func TestLongText(t *testing.T) {
	m := openTier(t, "")
	ctx := context.Background()
	e, vec := m.NewEncoder(), make([]float32, m.Dim())
	for _, text := range []string{
		strings.Repeat("a", 1<<20), strings.Repeat(" ", 1<<20), strings.Repeat("\x00\xff", 1<<19), strings.Repeat("word ", 1<<18),
	} {
		require.NoError(t, e.Embed(ctx, text, vec))
		assert.InDelta(t, 1, cosine(vec, float64s(vec)), 1e-6)
	}
}

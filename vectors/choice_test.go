package vectors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/language"
)

// bilingual is a vault whose model is chosen by the language of its notes.
type bilingual struct {
	*world
	english, multilingual *wordEmbedder
	opened                []string
}

func newBilingual(t *testing.T) *bilingual {
	b := &bilingual{
		world:   &world{t: t, dir: t.TempDir(), state: t.TempDir()},
		english: newWordEmbedder("en"), multilingual: newWordEmbedder("multi"),
	}
	t.Cleanup(func() {
		if b.stop != nil {
			b.stop()
		}
	})
	return b
}

func (b *bilingual) open(source string) (Embedder, error) {
	b.opened = append(b.opened, source)
	if source == "multilingual" {
		return b.multilingual, nil
	}
	return b.english, nil
}

func (b *bilingual) run() { b.start(nil, b.open) }

// fill writes notes until the vault has the given numbers of notes in each language.
func (b *bilingual) fill(english, german int) {
	for i := range english {
		b.write(fmt.Sprintf("The %d.md", i), fmt.Sprintf("The boat that was built in %d is in the harbour, and it was sold to them", i))
	}
	for i := range german {
		b.write(fmt.Sprintf("Das %d.md", i), fmt.Sprintf("Das Boot, das im Jahr %d gebaut wurde, ist nicht im Hafen, aber wir suchen es", i))
	}
	if b.vault != nil {
		require.NoError(b.t, b.vault.Reconcile(context.Background()))
	}
}

func (b *bilingual) remove(pattern string) {
	names, err := filepath.Glob(filepath.Join(b.dir, pattern))
	require.NoError(b.t, err)
	for _, name := range names {
		require.NoError(b.t, os.Remove(name))
	}
	require.NoError(b.t, b.vault.Reconcile(context.Background()))
}

// settled waits until everything is embedded by the model and no other model remains.
func (b *bilingual) settled(model, why string) {
	b.t.Helper()
	var st Status
	require.Eventually(b.t, func() bool {
		st = b.index.Status()
		return st.Model == model && st.State == StateReady && st.Answering == "" && st.Why == why
	}, patience, time.Millisecond, "%s: %s", model, why)
	b.requireConsistent()
	require.Eventually(b.t, func() bool {
		files, err := filepath.Glob(filepath.Join(b.state, "vectors-*"))
		return err == nil && len(files) == 1 && files[0] == slotPath(b.state, model)
	}, patience, time.Millisecond, "the file of the other model is deleted")
}

func TestAuto_FirstStart(t *testing.T) {
	for _, c := range []struct {
		english, german int
		model, why      string
	}{
		{40, 0, "en", "0 % of 40 passages are not English"},
		{38, 2, "en", "5 % of 40 passages are not English"},
		{34, 6, "en", "15 % of 40 passages are not English"},
		{20, 20, "multi", "50 % of 40 passages are not English"},
		{0, 3, "multi", "100 % of 3 passages are not English"},
		{0, 0, "en", "no passage has enough text to recognize its language"},
	} {
		t.Run(fmt.Sprint(c.english, c.german), func(t *testing.T) {
			b := newBilingual(t)
			b.fill(c.english, c.german)
			b.run()
			b.settled(c.model, c.why)
			assert.Equal(t, []string{map[string]string{"en": "english", "multi": "multilingual"}[c.model]}, b.opened, "the other model is not opened")
			assert.Len(t, append(keys(b.english.counts()), keys(b.multilingual.counts())...), c.english+c.german, "nothing is embedded twice")
			b.stop()
			b.opened = nil
			b.run()
			b.settled(c.model, c.why)
			assert.Len(t, b.opened, 1)
		})
	}
}

func keys(m map[string]int) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// The model changes at a fifth of foreign passages and back below a twentieth.
func TestAuto_Hysteresis(t *testing.T) {
	b := newBilingual(t)
	b.run()
	b.settled("en", "no passage has enough text to recognize its language")
	b.fill(0, 2)
	b.settled("multi", "100 % of 2 passages are not English")
	b.fill(18, 2)
	b.settled("multi", "10 % of 20 passages are not English")
	b.fill(58, 2)
	b.settled("en", "3 % of 60 passages are not English")
	b.fill(58, 10)
	b.settled("en", "15 % of 68 passages are not English")
	b.fill(58, 20)
	b.settled("multi", "26 % of 78 passages are not English")
	b.write("list.md", "- 12 eggs\n")
	b.remove("[TD]*.md")
	b.settled("multi", "no passage has enough text to recognize its language")
}

// The next process continues a change of the model; until it is complete, the old vectors
// answer.
func TestAuto_InterruptedChange(t *testing.T) {
	b := newBilingual(t)
	b.fill(20, 0)
	b.run()
	b.settled("en", "0 % of 20 passages are not English")
	b.multilingual.gate = make(chan struct{}, 100)
	for range 3 {
		b.multilingual.gate <- struct{}{}
	}
	b.fill(20, 10)
	embedded := func(n int) func() bool {
		return func() bool { return b.index.Status().Embedded == n && b.index.Status().Model == "multi" }
	}
	require.Eventually(t, embedded(12), patience, time.Millisecond, "three batches of four")
	const why = "33 % of 30 passages are not English"
	answers := func() {
		st := b.index.Status()
		assert.Equal(t, []string{"multi", "en", why}, []string{st.Model, st.Answering, st.Why})
		found, err := b.index.Nearest(t.Context(), "boat 7 harbour", nil, 40)
		require.NoError(t, err)
		assert.Len(t, found, 20, "the notes of before")
	}
	answers()
	b.stop()
	b.run()
	require.Eventually(t, embedded(12), patience, time.Millisecond, "they were committed")
	answers()
	close(b.multilingual.gate)
	b.settled("multi", why)
	found, err := b.index.Nearest(t.Context(), "boat 7 harbour", nil, 40)
	require.NoError(t, err)
	assert.Len(t, found, 30)
	for text, n := range b.multilingual.counts() {
		assert.Equal(t, 1, n, text)
	}
}

// A change that is reverted before it is complete needs no further embedding.
func TestAuto_RevokedChange(t *testing.T) {
	b := newBilingual(t)
	b.fill(20, 0)
	b.run()
	b.settled("en", "0 % of 20 passages are not English")
	b.multilingual.gate = make(chan struct{}, 1)
	b.fill(20, 10)
	require.Eventually(t, func() bool { return b.index.Status().Model == "multi" }, patience, time.Millisecond)
	b.remove("Das*.md")
	b.multilingual.gate <- struct{}{}
	b.settled("en", "0 % of 20 passages are not English")
	models, err := b.index.store.models(t.Context())
	require.NoError(t, err)
	assert.Len(t, models, 1, "the vectors of the other model are deleted")
}

// If the model changes before half of the notes have vectors, the old model answers only until
// the new one has more vectors.
func TestAuto_ChangeDuringFirstEmbedding(t *testing.T) {
	b := newBilingual(t)
	b.english.gate = make(chan struct{}, 1)
	b.multilingual.gate = make(chan struct{}, 100)
	b.fill(20, 0)
	b.run()
	require.Eventually(t, func() bool { return b.index.Status().Model == "en" }, patience, time.Millisecond)
	b.fill(20, 60)
	b.english.gate <- struct{}{}
	for range 2 {
		b.multilingual.gate <- struct{}{}
	}
	require.Eventually(t, func() bool {
		st := b.index.Status()
		return st.Model == "multi" && st.Answering == "" && st.Embedded == 8
	}, patience, time.Millisecond)
	close(b.multilingual.gate)
	b.settled("multi", "75 % of 80 passages are not English")
}

// The speed of another model is not used to estimate the remaining time.
func TestAuto_TimeOfAnotherModel(t *testing.T) {
	b := newBilingual(t)
	b.multilingual.gate = make(chan struct{})
	b.fill(20, 0)
	b.run()
	b.settled("en", "0 % of 20 passages are not English")
	b.fill(20, 60)
	require.Eventually(t, func() bool { return b.index.Status().Model == "multi" }, patience, time.Millisecond)
	assert.Zero(t, b.index.Status().RemainingSeconds)
	close(b.multilingual.gate)
	b.settled("multi", "75 % of 80 passages are not English")
}

// A vault that was embedded before the choice was stored keeps its vectors.
func TestAuto_StoreWithoutChoice(t *testing.T) {
	b := newBilingual(t)
	b.fill(20, 0)
	b.run()
	b.settled("en", "0 % of 20 passages are not English")
	require.NoError(t, b.index.store.SaveSetting(t.Context(), choiceSetting, choice{Source: "of another version"}))
	b.stop()
	b.run()
	b.settled("en", "0 % of 20 passages are not English")
	for text, n := range b.english.counts() {
		assert.Equal(t, 1, n, text)
	}
}

// The letters of a picture in base64 are not words.
func TestAuto_IgnoresPictures(t *testing.T) {
	b := newBilingual(t)
	b.write("photo.md", "![](data:image/png;base64,"+strings.Repeat("iVBORw0KGgo/die/der/und/das/", 40)+")")
	b.run()
	b.settled("en", "no passage has enough text to recognize its language")
}

func TestAuto_Next(t *testing.T) {
	a := &Auto{English: "e", Multilingual: "m"}
	share := func(foreign int) language.Share { return language.Share{Foreign: foreign, Judged: 100} }
	for _, c := range []struct {
		current string
		chosen  bool
		share   language.Share
		want    string
	}{
		{"", false, share(0), "e"}, {"", false, share(19), "e"}, {"", false, share(20), "m"}, {"", false, language.Share{}, "e"},
		{"e", true, share(19), "e"}, {"e", true, share(20), "m"}, {"e", true, language.Share{}, "e"},
		{"m", true, share(5), "m"}, {"m", true, share(4), "e"}, {"m", true, language.Share{}, "m"},
	} {
		assert.Equal(t, c.want, a.next(c.current, c.chosen, c.share), "%+v", c)
	}
}

package vectors

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"notesd/internal/sqlite"
	"notesd/vectors/language"
)

// Auto chooses between two models by the language of the notes. A model is replaced
// only when the share of passages in other languages than English has clearly changed,
// because all notes are then embedded again.
type Auto struct {
	English, Multilingual string // sources, for Options.Open
}

const (
	// multilingualFrom and englishBelow are the shares of foreign passages at which
	// the model changes. For English text the multilingual model is .017 of nDCG
	// worse; for other languages the English model is .02 to .5 worse.
	multilingualFrom = .20
	englishBelow     = .05
	// samplePassages is the number of passages that are judged. The standard deviation
	// of a share of .05 is then .01.
	samplePassages = 512
	// judgedNotes is the number of notes that are read at a time.
	judgedNotes = 16
	// reconsiderAfter is the share of the notes that must have changed before the
	// passages are judged again.
	reconsiderAfter = .05
)

// choice is the state of Options.Auto. With a configured model, only the passages are judged, for
// the languages in which queries are aligned.
type choice struct {
	language.Share
	Source string
	notes  int  // number of notes when they were judged
	judged bool // by this process
	// changed is the number of changes of notes since they were judged.
	changed int
}

// choiceSetting is the name of the choice in the store.
const choiceSetting = "model"

// next returns the source for a share of foreign passages. The model does not change while no
// passage can be judged.
func (a *Auto) next(current string, chosen bool, s language.Share) string {
	switch {
	case s.Judged > 0 && s.Fraction() >= multilingualFrom:
		return a.Multilingual
	case chosen && current == a.Multilingual && (s.Judged == 0 || s.Fraction() >= englishBelow):
		return a.Multilingual
	}
	return a.English
}

// why describes the choice for the user.
func (c choice) why() string {
	switch {
	case !c.judged && c.Judged == 0:
		return ""
	case c.Judged == 0:
		return "no passage has enough text to recognize its language"
	}
	return fmt.Sprintf("%.0f %% of %d passages are not English", 100*c.Fraction(), c.Judged)
}

// recall opens the model that was chosen last, if there is one.
func (x *Index) recall(ctx context.Context) error {
	auto := x.opt.Auto
	if auto == nil {
		return nil
	}
	var last *choice
	if err := x.store.Setting(ctx, choiceSetting, &last); err != nil || last == nil {
		return err
	}
	if last.Source != auto.English && last.Source != auto.Multilingual {
		return nil // stored by a version with other models
	}
	embedder, err := x.opt.Open(last.Source)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	last.changed = x.choice.changed
	x.embedder, x.source, x.choice = embedder, last.Source, *last
	return nil
}

// choose judges the passages, at the first call and after many notes have changed, and chooses the
// model by them unless it is configured.
func (x *worker) choose(ctx context.Context) error {
	x.mu.RLock()
	before, current := x.choice, x.embedder
	x.mu.RUnlock()
	if before.judged && float64(before.changed) <= reconsiderAfter*float64(before.notes) {
		return nil
	}
	if x.opt.Auto == nil && !alignable(current) {
		return nil
	}
	next, err := x.judge(ctx)
	if err == nil && x.opt.Auto != nil {
		err = x.chooseModel(ctx, before, &next)
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	next.changed = x.choice.changed - before.changed
	x.choice = next
	return nil
}

// chooseModel sets the source of next, and opens and stores the model if it is another.
func (x *worker) chooseModel(ctx context.Context, before choice, next *choice) (err error) {
	current := x.embedder
	next.Source = x.opt.Auto.next(before.Source, current != nil, next.Share)
	if current == nil || next.Source != before.Source {
		if current, err = x.opt.Open(next.Source); err != nil {
			return err
		}
		x.opt.Log.Info("the embedding model is chosen", "model", current.ID(), "why", next.why())
	}
	if next.Source != before.Source || next.Share != before.Share || x.embedder == nil {
		if err := x.store.SaveSetting(ctx, choiceSetting, next); err != nil {
			return err
		}
	}
	if current != x.embedder {
		return x.adopt(ctx, current, next.Source)
	}
	return nil
}

// judge determines the languages of the passages with the lowest hashes. They are a random
// sample that does not depend on the order of the notes and changes little when a few notes
// change.
func (x *worker) judge(ctx context.Context) (choice, error) {
	c, of := choice{judged: true}, samples{}
	wanted := map[int64]map[int]bool{}
	var ids []int64
	err := sqlite.ForEach(ctx, x.store.Notes().Reader(), `SELECT note, ordinal FROM chunks ORDER BY hash LIMIT ?`, []any{samplePassages}, func(rows *sql.Rows) error {
		var note int64
		var ordinal int
		err := rows.Scan(&note, &ordinal)
		if wanted[note] == nil {
			wanted[note] = map[int]bool{}
			ids = append(ids, note)
		}
		wanted[note][ordinal] = true
		return err
	})
	if err != nil {
		return c, err
	}
	for len(ids) > 0 {
		part := ids[:min(len(ids), judgedNotes)]
		ids = ids[len(part):]
		list, err := x.store.ByID(ctx, part)
		if err != nil {
			return c, err
		}
		for _, n := range list {
			n.Content = n.SearchText()
			for _, chunk := range n.Chunks {
				if wanted[n.ID][chunk.Ordinal] {
					group, key := c.Add(n.EmbedText(chunk)), keyOf(chunk.Hash)
					if group != language.Unknown && !slices.Contains(of[group], key) { // copies have one vector
						of[group] = append(of[group], key)
					}
				}
			}
		}
	}
	x.samples = of
	err = x.store.Notes().Reader().QueryRowContext(ctx, `SELECT count(*) FROM notes`).Scan(&c.notes)
	return c, err
}

package vectors

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"

	"notesd/internal/sqlite"
)

// rows reads and writes the data of an Index in notes.db.
type rows struct{ Store }

type modelRow struct {
	id        int64
	name      string
	source    string
	dimension int
}

func (r rows) models(ctx context.Context) ([]modelRow, error) {
	return sqlite.All(ctx, r.Notes().Reader(), func(m *modelRow) []any { return []any{&m.id, &m.name, &m.source, &m.dimension} },
		`SELECT id, name, source, dimension FROM models ORDER BY id DESC`)
}

// modelID returns the row of the embedder's model, which it creates if necessary.
func (r rows) modelID(ctx context.Context, models []modelRow, embedder Embedder, source string) (id int64, isNew bool, err error) {
	isNew = true
	for _, m := range models {
		if m.name != embedder.ID() {
			continue
		}
		if m.source == source {
			return m.id, false, nil
		}
		isNew = false
	}
	err = r.Notes().Write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO models (name, source, dimension, state) VALUES (?, ?, ?, '')
			ON CONFLICT (name) DO UPDATE SET source = excluded.source RETURNING id`,
			embedder.ID(), source, embedder.Dim()).Scan(&id)
	})
	return id, isNew, err
}

// deleteOtherModels deletes the models except one, with their embeddings.
func (r rows) deleteOtherModels(ctx context.Context, model int64) error {
	others, err := sqlite.Column[int64](ctx, r.Notes().Reader(), `SELECT id FROM models WHERE id <> ?`, model)
	for _, other := range others {
		err = errors.Join(err, r.deleteModel(ctx, other))
	}
	return err
}

// deleteModel deletes a model with its embeddings.
func (r rows) deleteModel(ctx context.Context, model int64) error {
	return r.Notes().Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM models WHERE id = ?`, model)
		return err
	})
}

// chunks returns every chunk.
func (r rows) chunks(ctx context.Context) ([]loadedChunk, error) {
	return sqlite.All(ctx, r.Notes().Reader(), func(c *loadedChunk) []any { return []any{&c.note, &c.ordinal, &c.hash} },
		`SELECT note, ordinal, hash FROM chunks ORDER BY note, ordinal`)
}

// importance returns the importance of every note.
func (r rows) importance(ctx context.Context) (map[int64]importance, error) {
	all := map[int64]importance{}
	err := sqlite.ForEach(ctx, r.Notes().Reader(), `SELECT id, mtime, (SELECT count(DISTINCT note) FROM links WHERE resolved = notes.id) FROM notes`, nil, func(rows *sql.Rows) error {
		var id int64
		var i importance
		err := rows.Scan(&id, &i.modified, &i.linking)
		all[id] = i
		return err
	})
	return all, err
}

func (r rows) countChunks(ctx context.Context) (n int, err error) {
	err = r.Notes().Reader().QueryRowContext(ctx, `SELECT count(*) FROM chunks`).Scan(&n)
	return n, err
}

// saveEmbeddings saves the vectors of texts and returns those texts. It omits texts whose notes
// no longer exist.
func (r rows) saveEmbeddings(ctx context.Context, model int64, done []text) ([]text, error) {
	ids := make([]int64, len(done))
	for i, t := range done {
		ids[i] = t.note
	}
	err := r.Notes().Write(ctx, func(tx *sql.Tx) error {
		exist, err := sqlite.Column[int64](ctx, tx, `SELECT id FROM notes WHERE id IN (SELECT value FROM json_each(?))`, sqlite.List(ids))
		if err != nil {
			return err
		}
		done = slices.DeleteFunc(done, func(t text) bool { return !slices.Contains(exist, t.note) })
		insert, err := tx.PrepareContext(ctx, `INSERT OR IGNORE INTO embeddings (model, hash, vector) VALUES (?, ?, ?)`)
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }() // the end of the transaction closes it as well
		for _, t := range done {
			hash, err := hex.DecodeString(t.hash)
			if err != nil {
				return err
			}
			if _, err := insert.ExecContext(ctx, model, hash, t.half); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// embeddingsAfter returns the next n embeddings after a hash, in the order of hashes, and the
// last of their hashes, or nil if there are no more.
func (r rows) embeddingsAfter(ctx context.Context, model int64, after []byte, n int) (vectors map[string][]byte, last []byte, err error) {
	vectors = map[string][]byte{}
	err = sqlite.ForEach(ctx, r.Notes().Reader(), `SELECT hash, vector FROM embeddings WHERE model = ? AND hash > ? ORDER BY hash LIMIT ?`, []any{model, append([]byte{}, after...), n}, func(rows *sql.Rows) error {
		var vector []byte
		err := rows.Scan(&last, &vector)
		vectors[hex.EncodeToString(last)] = vector
		return err
	})
	if len(vectors) < n {
		last = nil
	}
	return vectors, last, err
}

// deleteUnused deletes the embeddings of texts that are not among chunks, which include the
// leads.
func (r rows) deleteUnused(ctx context.Context, model int64, chunks []loadedChunk) error {
	used := make(map[string]bool, len(chunks))
	for _, c := range chunks {
		used[string(c.hash)] = true
	}
	stored, err := sqlite.Column[[]byte](ctx, r.Notes().Reader(), `SELECT hash FROM embeddings WHERE model = ?`, model)
	if err != nil {
		return err
	}
	unused := slices.DeleteFunc(stored, func(hash []byte) bool { return used[string(hash)] })
	return r.Notes().Write(ctx, func(tx *sql.Tx) error {
		for _, hash := range unused {
			if _, err := tx.ExecContext(ctx, `DELETE FROM embeddings WHERE model = ? AND hash = ?`, model, hash); err != nil {
				return err
			}
		}
		return nil
	})
}

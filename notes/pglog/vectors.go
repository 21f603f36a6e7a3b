package pglog

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// claimFor is how long a claim of a node lasts; then another may compute the vectors.
	// A batch takes a second or two.
	claimFor = time.Minute
	// claimPoll is how often a node checks for vectors that another node is computing.
	claimPoll = time.Second
)

// Vectors returns the stored vectors of the model for the texts with the given hashes,
// and claims for this node those texts whose vector is neither stored nor being computed.
// The rest is being computed by other nodes. If that is all of them, Vectors waits.
func (d *Database) Vectors(ctx context.Context, model string, hashes []string) (found map[string][]byte, claimed []string, err error) {
	hashes = slices.Sorted(slices.Values(hashes)) // all nodes insert rows in the same order, to avoid deadlocks
	for {
		err = d.call(ctx, func(ctx context.Context) error {
			found, claimed, err = d.claim(ctx, model, hashes)
			return err
		})
		if err != nil || len(hashes) == 0 || len(found)+len(claimed) > 0 {
			return found, claimed, err
		}
		select {
		case <-time.After(claimPoll):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (d *Database) claim(ctx context.Context, model string, hashes []string) (found map[string][]byte, claimed []string, err error) {
	found = map[string][]byte{}
	claims := func(rows pgx.Rows) error {
		more, err := pgx.CollectRows(rows, pgx.RowTo[string])
		claimed = append(claimed, more...)
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO vectors (model, hash) SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING RETURNING encode(hash, 'hex')`, model, raw(hashes)).Query(claims)
	b.Queue(`UPDATE vectors SET claimed = now() WHERE model = $1 AND hash IN (
			SELECT hash FROM vectors WHERE model = $1 AND hash = ANY($2) AND data IS NULL AND claimed < now() - make_interval(secs => $3) FOR UPDATE SKIP LOCKED)
		RETURNING encode(hash, 'hex')`, model, raw(hashes), claimFor.Seconds()).Query(claims)
	b.Queue(`SELECT hash, data FROM vectors WHERE model = $1 AND hash = ANY($2) AND data IS NOT NULL`, model, raw(hashes)).Query(func(rows pgx.Rows) error {
		var hash, data []byte
		_, err := pgx.ForEachRow(rows, []any{&hash, &data}, func() error {
			found[hex.EncodeToString(hash)] = slices.Clone(data)
			return nil
		})
		return err
	})
	err = d.pool.SendBatch(ctx, b).Close()
	return found, claimed, err
}

// namedEvery is how often the use of a vector by a node is recorded.
const namedEvery = 24 * time.Hour

// Missing returns the texts for which no vector is stored, and protects the vectors of
// the others from pruning.
func (d *Database) Missing(ctx context.Context, model string, hashes []string) (missing []string, err error) {
	err = d.call(ctx, func(ctx context.Context) error {
		b := &pgx.Batch{}
		b.Queue(`UPDATE vectors SET claimed = now() WHERE model = $1 AND hash = ANY($2) AND data IS NOT NULL AND claimed < now() - make_interval(secs => $3)`, model, raw(hashes), namedEvery.Seconds())
		b.Queue(`SELECT encode(hash, 'hex') FROM unnest($2::bytea[]) AS hash WHERE NOT EXISTS (SELECT FROM vectors v WHERE v.model = $1 AND v.hash = hash.hash AND v.data IS NOT NULL)`, model, raw(hashes)).Query(func(rows pgx.Rows) error {
			missing, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return d.pool.SendBatch(ctx, b).Close()
	})
	return missing, err
}

// KeepVectors stores vectors that this node has computed.
func (d *Database) KeepVectors(ctx context.Context, model string, vectors map[string][]byte) error {
	hashes := slices.Sorted(maps.Keys(vectors))
	data := make([][]byte, len(hashes))
	for i, hash := range hashes {
		data[i] = vectors[hash]
	}
	return d.call(ctx, func(ctx context.Context) error {
		_, err := d.pool.Exec(ctx, `INSERT INTO vectors (model, hash, data) SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])
			ON CONFLICT (model, hash) DO UPDATE SET data = excluded.data WHERE vectors.data IS NULL`, model, raw(hashes), data)
		return err
	})
}

package notes

import (
	"context"
	"os"
	"slices"
)

// pairMoves finds, for files without a row, the row of a vanished note whose
// file this was before: the same inode with the same stat, or else the same
// bytes, when they are not empty and nothing else on either side has them.
// The pairs leave p.gone. What cannot be paired stays a delete and a create.
func (v *Vault) pairMoves(ctx context.Context, root *os.Root, p *plan) (map[string]row, error) {
	moves := map[string]row{}
	if len(p.gone) == 0 {
		return moves, nil
	}
	byInode, byHash := map[int64]row{}, map[string][]row{}
	for _, r := range p.gone {
		if r.stat.inode != 0 {
			byInode[r.stat.inode] = r
		}
		byHash[r.hash] = append(byHash[r.hash], r)
	}
	taken := map[int64]bool{}
	var rest []found
	for _, f := range p.changed {
		if _, known := p.rows[f.path]; known {
			continue
		}
		r, ok := byInode[f.stat.inode]
		if ok && !taken[r.id] && r.stat.size == f.stat.size && r.stat.mtime == f.stat.mtime {
			moves[f.path], taken[r.id] = r, true
			continue
		}
		rest = append(rest, f)
	}
	if err := v.pairByHash(ctx, root, rest, byHash, moves, taken); err != nil {
		return nil, err
	}
	p.gone = slices.DeleteFunc(p.gone, func(r row) bool { return taken[r.id] })
	return moves, nil
}

func (v *Vault) pairByHash(ctx context.Context, root *os.Root, files []found, byHash map[string][]row, moves map[string]row, taken map[int64]bool) error {
	sizes := map[int64]bool{}
	for _, rows := range byHash {
		sizes[rows[0].stat.size] = true
	}
	sameHash := map[string][]found{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.stat.size == 0 || !sizes[f.stat.size] {
			continue // cannot have the bytes of any of them
		}
		if data, _, err := readOnce(root, f.diskPath, v.opt.MaxNoteBytes); err == nil {
			h := hashOf(data)
			sameHash[h] = append(sameHash[h], f)
		}
	}
	for h, files := range sameHash {
		rows := slices.DeleteFunc(slices.Clone(byHash[h]), func(r row) bool { return taken[r.id] })
		if len(files) == 1 && len(rows) == 1 {
			moves[files[0].path], taken[rows[0].id] = rows[0], true
		}
	}
	return nil
}

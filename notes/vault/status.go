package vault

import (
	"context"

	"notesd/notes"
	"notesd/notes/store"
)

// statusSkipped is how many skipped files a status names.
const statusSkipped = 20

// Status reports on the vault.
func (v *Vault) Status(ctx context.Context) (notes.Status, error) {
	st := notes.Status{Root: v.disk.path, Seq: v.store.HeadSeq.Load(), Scanning: v.progress.active.Load() > 0,
		Scanned: int(v.progress.done.Load()), ToScan: int(v.progress.toScan.Load())}
	var err error
	if st.Notes, err = v.store.Count(ctx); err != nil {
		return st, err
	}
	if st.Incomplete = v.progress.differing.Load() > 0; !st.Incomplete && !v.Ready() {
		// A scan that has begun the store and not ended it leaves the links to its end.
		if err := v.store.Setting(ctx, store.LinksStale, &st.Incomplete); err != nil {
			return st, err
		}
		st.Incomplete = st.Incomplete || st.Notes == 0
	}
	if st.Skipped, st.SkippedTotal, err = v.store.SkippedFiles(ctx, statusSkipped); err != nil {
		return st, err
	}
	if err := v.incident.get(); err != nil {
		st.Unavailable = err.Error()
	}
	st.Warnings = append([]string{}, v.store.Warnings()...)
	st.Warnings = append(st.Warnings, v.mounts.warnings()...)
	st.Warnings = append(st.Warnings, v.left.warnings()...)
	stale, err := v.store.StaleLinks(ctx, v.opt.Now().Add(-store.JournalAge))
	if err != nil {
		return st, err
	}
	st.Warnings = append(st.Warnings, stale...)
	behind := v.feed.behind()
	st.Warnings = append(st.Warnings, behind...)
	if st.Trouble = v.incident.getTrouble(); st.Trouble == "" && len(behind) > 0 {
		st.Trouble = behind[0]
	}
	return st, nil
}

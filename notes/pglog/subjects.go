package pglog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"notesd/notes"
)

// A Subject is a person or program that has a token.
type Subject struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Grants  []Grant   `json:"grants"` // by vault and folder
}

// A Grant gives a subject access to a vault, or to a folder of it.
type Grant struct {
	Vault  string `json:"vault"`
	Folder string `json:"folder,omitempty"` // "": the whole vault
	Writer bool   `json:"writer"`           // it may also write
}

func (g Grant) String() string {
	if g.Folder == "" {
		return g.Vault
	}
	return g.Vault + "/" + g.Folder
}

// Digest is the stored form of a token, its SHA-256. A slow hash is unnecessary, because
// a token is 256 random bits and cannot be guessed like a password.
type Digest [sha256.Size]byte

// tokenPrefix lets people and secret scanners recognise a token.
const tokenPrefix = "notesd_"

// DigestOf returns the digest of a token.
func DigestOf(token string) Digest { return sha256.Sum256([]byte(token)) }

func newToken() (token string, digest Digest) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	token = tokenPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
	return token, DigestOf(token)
}

// AddSubject creates a subject without grants and returns its token, which is not stored.
// It returns notes.ErrExists if the name is taken.
func (d *Database) AddSubject(ctx context.Context, name string) (token string, err error) {
	if problem := nameProblem(name); problem != "" {
		return "", &notes.Error{Op: "add", Path: name, Err: notes.ErrInvalid, Detail: problem, Hint: `Use a short name such as "ann" or "ann@example.org".`}
	}
	token, digest := newToken()
	taken := &notes.Error{Op: "add", Path: name, Err: notes.ErrExists, Detail: "a subject with that name exists already", Hint: "notesd team renew gives it a new token; notesd team revoke removes it."}
	return token, d.changeOne(ctx, taken, `INSERT INTO subjects (name, token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, digest[:])
}

func nameProblem(name string) string {
	const most = 100
	switch {
	case name == "" || len(name) > most:
		return fmt.Sprintf("a name has 1 to %d bytes", most)
	case strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || r == utf8.RuneError || !unicode.IsPrint(r) }):
		return "a name has neither spaces nor control or invisible characters"
	}
	return ""
}

// RenewToken replaces a subject's token and returns the new one.
func (d *Database) RenewToken(ctx context.Context, name string) (token string, err error) {
	token, digest := newToken()
	return token, d.changeOne(ctx, noSubject("renew", name), `UPDATE subjects SET token = $2 WHERE name = $1`, name, digest[:])
}

// RemoveSubject removes a subject, its token and its grants. Its past changes keep its
// name.
func (d *Database) RemoveSubject(ctx context.Context, name string) error {
	return d.changeOne(ctx, noSubject("revoke", name), `DELETE FROM subjects WHERE name = $1`, name)
}

func noSubject(op, name string) error {
	return &notes.Error{Op: op, Path: name, Err: notes.ErrNotFound, Detail: "there is no subject with that name", Hint: "notesd team list shows all subjects."}
}

// Grant adds a grant, replacing the subject's grant for the same folder. If make is set
// it creates a missing vault; otherwise that is notes.ErrNotFound.
func (d *Database) Grant(ctx context.Context, name string, g Grant, make bool) error {
	if g.Folder != "" {
		folder, err := notes.CleanPath(g.Folder)
		if err != nil {
			return err
		}
		g.Folder = strings.Trim(folder, "/")
	}
	if make && (nameProblem(g.Vault) != "" || strings.ContainsAny(g.Vault, `/\%?#"`) || g.Vault == "." || g.Vault == "..") { // it is a segment of a URL
		return &notes.Error{Op: "grant", Path: g.Vault, Err: notes.ErrInvalid, Detail: "a vault cannot have that name", Hint: `Use a short name such as "research".`}
	}
	return d.change(ctx, func(tx pgx.Tx) error {
		if make {
			if _, err := begin(ctx, tx, g.Vault); err != nil {
				return err
			}
		}
		subject, vault, err := find(ctx, tx, "grant", name, g.Vault)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO grants (subject, vault, folder, writer) VALUES ($1, $2, $3, $4)
			ON CONFLICT (subject, vault, folder) DO UPDATE SET writer = excluded.writer`, subject, vault, g.Folder, g.Writer)
		return err
	})
}

// Covers reports whether the vault has files that the grant covers.
func (d *Database) Covers(ctx context.Context, g Grant) (covers bool, err error) {
	folder, err := notes.CleanPath(g.Folder)
	if err != nil {
		return false, err
	}
	err = d.call(ctx, func(ctx context.Context) error {
		return d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM files f JOIN vaults v ON v.id = f.vault
			WHERE v.name = $1 AND (f.key = $2 OR f.key > $2 || '/' AND f.key < $2 || '0'))`, g.Vault, notes.FolderKey(folder)).Scan(&covers) // '0' is the character after '/'
	})
	return covers, err
}

// Ungrant removes a grant. It returns notes.ErrNotFound if the subject has none for
// exactly that folder.
func (d *Database) Ungrant(ctx context.Context, name string, g Grant) error {
	return d.change(ctx, func(tx pgx.Tx) error {
		subject, vault, err := find(ctx, tx, "ungrant", name, g.Vault)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM grants WHERE subject = $1 AND vault = $2 AND folder = $3`, subject, vault, notes.Nfc(strings.Trim(g.Folder, "/")))
		if err == nil && tag.RowsAffected() == 0 {
			err = &notes.Error{Op: "ungrant", Path: name, Err: notes.ErrNotFound, Detail: "it has no grant for " + notes.Quote(g.String()), Hint: "notesd team list shows its grants; only those can be withdrawn."}
		}
		return err
	})
}

// find returns the ids of a subject and a vault.
func find(ctx context.Context, tx pgx.Tx, op, name, vault string) (subject, id int64, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM subjects WHERE name = $1`, name).Scan(&subject)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, noSubject(op, name)
	}
	if err != nil {
		return 0, 0, err
	}
	err = tx.QueryRow(ctx, `SELECT id FROM vaults WHERE name = $1`, vault).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return subject, id, err
	}
	rows, _ := tx.Query(ctx, `SELECT name FROM vaults ORDER BY name LIMIT 20`) // its error is in rows
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, 0, err
	}
	return 0, 0, &notes.Error{Op: op, Path: vault, Err: notes.ErrNotFound, Detail: "the database has no vault with that name", Hint: "notesd team grant --new creates one.", Candidates: all}
}

// change runs a transaction on the migrated database, with a timeout.
func (d *Database) change(ctx context.Context, do func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	if err := d.ready(ctx); err != nil {
		return err
	}
	return d.inTx(ctx, do)
}

// changeOne runs a statement. It returns none if no row was changed.
func (d *Database) changeOne(ctx context.Context, none error, statement string, args ...any) error {
	return d.change(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, statement, args...)
		if err == nil && tag.RowsAffected() == 0 {
			err = none
		}
		return err
	})
}

// Subjects returns all subjects, sorted by name.
func (d *Database) Subjects(ctx context.Context) ([]Subject, error) {
	found, err := d.subjects(ctx, nil)
	all := []Subject{}
	for _, s := range found {
		all = append(all, s.Subject)
	}
	return all, err
}

// SubjectsOf returns the subjects whose tokens have the digests.
func (d *Database) SubjectsOf(ctx context.Context, digests []Digest) (map[Digest]Subject, error) {
	tokens := make([][]byte, len(digests))
	for i := range digests {
		tokens[i] = digests[i][:]
	}
	found, err := d.subjects(ctx, tokens)
	subjects := make(map[Digest]Subject, len(found))
	for _, s := range found {
		subjects[Digest(s.token)] = s.Subject
	}
	return subjects, err
}

// tokened is a subject with the digest of its token.
type tokened struct {
	Subject
	token []byte
}

// subjects returns the subjects with the tokens, or all if nil, sorted by name.
func (d *Database) subjects(ctx context.Context, tokens [][]byte) (all []tokened, err error) {
	err = d.call(ctx, func(ctx context.Context) error {
		all, err = d.selectSubjects(ctx, tokens)
		return err
	})
	return all, err
}

func (d *Database) selectSubjects(ctx context.Context, tokens [][]byte) (all []tokened, err error) {
	rows, err := d.pool.Query(ctx, `SELECT s.name, s.token, s.created, v.name, coalesce(g.folder, ''), coalesce(g.writer, false)
			FROM subjects s LEFT JOIN grants g ON g.subject = s.id LEFT JOIN vaults v ON v.id = g.vault
			WHERE $1::bytea[] IS NULL OR s.token = ANY($1) ORDER BY s.name, v.name, g.folder`, tokens)
	if err != nil {
		return nil, err
	}
	var s tokened
	var vault *string
	var g Grant
	_, err = pgx.ForEachRow(rows, []any{&s.Name, &s.token, &s.Created, &vault, &g.Folder, &g.Writer}, func() error {
		if n := len(all); n == 0 || all[n-1].Name != s.Name {
			all = append(all, tokened{Subject{Name: s.Name, Created: s.Created.UTC(), Grants: []Grant{}}, append([]byte{}, s.token...)})
		}
		if vault != nil {
			last := &all[len(all)-1]
			g.Vault = *vault
			last.Grants = append(last.Grants, g)
		}
		return nil
	})
	return all, err
}

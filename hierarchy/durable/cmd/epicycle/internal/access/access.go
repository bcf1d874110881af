// Package access decides who may do what, by a file with the SHA-256 sums of tokens, and the names of client certificates.
package access

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// Role determines what the bearer of a token may do. Each role may do everything that the roles before it may do.
type Role int

// The roles.
const (
	Read  Role = iota + 1 // look at timers and figures, export
	Write                 // set, move, remove and revive timers, take from queues
	Admin                 // remove all timers, and import, which gives timers arbitrary IDs
)

func (r Role) String() string { return [...]string{"none", "read", "write", "admin"}[r] }

// Bearer has the name of the sender of a request, and tells what the sender may do.
type Bearer struct {
	Name   string
	Role   Role
	Prefix string // the prefix of the keys that the bearer may see and change
}

// Everybody is the bearer of all requests if there are no tokens.
var Everybody = Bearer{Name: "everybody", Role: Admin}

// MayKey reports whether the bearer may see and change the timer of a key.
func (b *Bearer) MayKey(key string) bool { return strings.HasPrefix(key, b.Prefix) }

// Tokens is the content of a file of tokens.
type Tokens struct{ entries []entry }

type entry struct {
	sum   [sha256.Size]byte
	token bool // whether there is one
	Bearer
}

// noToken stands for the sum where a name is for a client certificate alone.
const noToken = "-"

// Parse reads lines of NAME ROLE SHA256-OF-TOKEN [PREFIX], with - instead of the sum where there is no token. It ignores
// empty lines and lines that begin with #.
func Parse(r io.Reader) (*Tokens, error) {
	t := new(Tokens)
	lines := bufio.NewScanner(r)
	names := make(map[string]bool)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		e, err := parseEntry(fields)
		if err == nil && names[e.Name] {
			err = fmt.Errorf("the name %q comes twice", e.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		names[e.Name] = true
		t.entries = append(t.entries, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.entries) == 0 {
		return nil, fmt.Errorf("there is no token")
	}
	return t, nil
}

// parseEntry parses a line. Its errors do not show the third field, since that may be a token by mistake.
func parseEntry(fields []string) (e entry, err error) {
	if len(fields) < 3 || len(fields) > 4 {
		return e, fmt.Errorf("%d fields instead of NAME ROLE SHA256-OF-TOKEN [PREFIX]", len(fields))
	}
	e.Name = fields[0]
	switch fields[1] {
	case "read":
		e.Role = Read
	case "write":
		e.Role = Write
	case "admin":
		e.Role = Admin
	default:
		return e, fmt.Errorf("%q is none of the roles read, write and admin", fields[1])
	}
	if len(fields) == 4 {
		e.Prefix = fields[3]
	}
	if fields[2] == noToken {
		return e, nil
	}
	sum, err := hex.DecodeString(fields[2])
	if err != nil || len(sum) != len(e.sum) {
		return e, fmt.Errorf("the third field is not the SHA-256 of a token, in 64 hexadecimal digits")
	}
	copy(e.sum[:], sum)
	e.token = true
	return e, nil
}

// Bearer returns the bearer of a token. The time that this takes does not depend on the token.
func (t *Tokens) Bearer(token string) (*Bearer, bool) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range t.entries {
		if subtle.ConstantTimeCompare(t.entries[i].sum[:], sum[:]) == 1 && t.entries[i].token {
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	return &t.entries[found].Bearer, true
}

// Named returns the bearer of a client certificate, whose common name is a name of the file.
func (t *Tokens) Named(name string) (*Bearer, bool) {
	for i := range t.entries {
		if t.entries[i].Name == name {
			return &t.entries[i].Bearer, true
		}
	}
	return nil, false
}

package member

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// version is the version of the records. A program refuses to join if it finds a claim of a higher version. A member
// whose record has another version, or can't be read, counts as a member all the same. A claim that no version can have
// written is nobody's.
const version = 1

const (
	memberPrefix = "member."
	claimPrefix  = "claim."
)

func memberKey(id ID) string { return memberPrefix + id.String() }
func claimKey(p int) string  { return claimPrefix + strconv.Itoa(p) }

// memberRecord is the value of member.<id>.
type memberRecord struct {
	Version int           `json:"version"`
	Text    string        `json:"text"`
	Lease   time.Duration `json:"lease"`   // in nanoseconds
	Counter uint64        `json:"counter"` // the number of the renewal; no two records of a member have the same
	Leaving bool          `json:"leaving,omitempty"`
	New     bool          `json:"new,omitempty"`    // the member has not lived for a lease yet, unlike other members
	Off     bool          `json:"off,omitempty"`    // the wall clock of the member is off: it takes nothing over
	Unable  []int         `json:"unable,omitempty"` // partitions whose logs the member can't read or can't write to
}

// claimRecord is the value of claim.<partition>.
type claimRecord struct {
	Version int    `json:"version"`
	Holder  string `json:"holder,omitempty"` // an ID
}

func encodeClaim(holder ID) []byte {
	r := claimRecord{Version: version}
	if holder != 0 {
		r.Holder = holder.String()
	}
	return encode(r)
}

func encode(record any) []byte {
	b, _ := json.Marshal(record) // never fails for structs of strings and numbers
	return b
}

// decodeMember returns the fields of a record that this program understands. It also returns an error if the record may
// have other fields.
func decodeMember(key string, value []byte) (r memberRecord, err error) {
	if err = json.Unmarshal(value, &r); err != nil {
		err = fmt.Errorf("%q can't be read: %w", key, err)
	} else if r.Version < 1 || r.Version > version {
		err = fmt.Errorf("%q has version %d, and this program knows %d", key, r.Version, version)
	}
	if r.Lease <= 0 || r.Lease > longestLease {
		r.Lease = 0
	}
	return r, err
}

// decodeClaim returns the holder of a claim, or nobody if the record is not a valid claim.
func decodeClaim(record storage.Record) (holder ID, err error) {
	if record.Deleted {
		return 0, nil
	}
	var r claimRecord
	key := record.Key
	err = json.Unmarshal(record.Value, &r)
	switch {
	case r.Version > version: // checked before err, since a later version may have other fields
		return 0, fmt.Errorf("%w: %q has %d, and this program knows %d", errVersion, key, r.Version, version)
	case err != nil:
		return 0, fmt.Errorf("%q can't be read: %w", key, err)
	case r.Version != version:
		return 0, fmt.Errorf("%q has version %d", key, r.Version)
	case r.Holder == "":
		return 0, nil
	}
	holder, ok := parseID(r.Holder)
	if !ok {
		return 0, fmt.Errorf("%q has the holder %q", key, r.Holder)
	}
	return holder, nil
}

// parseKey returns the member, or otherwise the partition, to which a key belongs.
func parseKey(key string) (id ID, partition int, ok bool) {
	if s, found := strings.CutPrefix(key, memberPrefix); found {
		id, ok = parseID(s)
		return id, -1, ok
	}
	if s, found := strings.CutPrefix(key, claimPrefix); found {
		p, err := strconv.Atoi(s)
		return 0, p, err == nil && p >= 0 && claimKey(p) == key
	}
	return 0, -1, false
}

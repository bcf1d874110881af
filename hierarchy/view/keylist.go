package view

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// MaxKeys is the most keys that are shown at once.
const MaxKeys = 20

// keysPerCheck is the number of keys that are read before the context is checked again.
const keysPerCheck = 256

// keyList is the answer to a request for keys. doc.go documents its fields.
type keyList struct {
	Time time.Time  `json:"time"`
	Find string     `json:"find,omitzero"`
	Keys []shownKey `json:"keys"`
	More bool       `json:"more"`

	States []string `json:"states,omitzero"`
	State  string   `json:"state,omitzero"`
}

type shownKey struct {
	Key       string         `json:"key"`
	Remaining *time.Duration `json:"remaining_ns"`
	Note      string         `json:"note,omitzero"`
}

// answerOf returns the answer for keys that ListedKeys has found.
func answerOf(q keyQuery, states []string, all []Key, more bool) keyList {
	list := keyList{Time: time.Now(), Find: q.find, States: states, State: q.state, Keys: []shownKey{}}
	if len(all) > MaxKeys {
		all, more = all[:MaxKeys], true
	}
	for _, k := range all {
		s := shownKey{Key: k.Text, Note: k.Note}
		if k.Note == "" {
			s.Remaining = &k.Remaining
		}
		list.Keys = append(list.Keys, s)
	}
	list.More = more
	return list
}

// listKeys iterates over the keys of w. It holds no lock meanwhile, and remembers no more than twice MaxKeys. If find
// is empty, it calls format only for the keys that are listed.
func listKeys[K comparable, V any](ctx context.Context, w *hierarchy.Keyed[K, V], format func(K) string, find string) (keyList, error) {
	var equal, containing nearest[K]
	read := 0
	for k, e := range w.All() {
		if read++; read%keysPerCheck == 0 && ctx.Err() != nil {
			break
		}
		if find == "" {
			containing.add(k, e.Due)
		} else if text := format(k); text == find {
			equal.add(k, e.Due)
		} else if strings.Contains(text, find) {
			containing.add(k, e.Due)
		}
	}
	if err := ctx.Err(); err != nil {
		return keyList{}, err
	}
	chosen := containing
	if len(equal.keys) > 0 {
		chosen = equal
	}
	list := keyList{Find: find, More: chosen.more, Keys: make([]shownKey, len(chosen.keys))} // never null in JSON
	for i, c := range chosen.keys {
		list.Keys[i] = show(w, c.key, format)
	}
	slices.SortStableFunc(list.Keys, shownKey.compare) // some keys may have been moved since they were read
	list.Time = time.Now()
	return list, nil
}

// show uses the remaining time of the wheel, because the wheel's clock may differ from the clock of package time.
func show[K comparable, V any](w *hierarchy.Keyed[K, V], k K, format func(K) string) shownKey {
	s := shownKey{Key: format(k)}
	if _, left, ok := w.Get(k); ok {
		s.Remaining = &left
	}
	return s
}

// compare puts keys that are no longer pending first.
func (s shownKey) compare(other shownKey) int {
	return cmp.Compare(s.left(), other.left())
}

func (s shownKey) left() time.Duration {
	if s.Remaining == nil {
		return -1
	}
	return *s.Remaining
}

// nearest keeps the keys with the nearest deadlines, in their order.
// Invariant: len(keys) <= MaxKeys.
type nearest[K comparable] struct {
	keys []dueKey[K]
	more bool // whether more than MaxKeys keys were added
}

type dueKey[K comparable] struct {
	key K
	due time.Time
}

func (n *nearest[K]) add(k K, due time.Time) {
	if len(n.keys) == MaxKeys {
		n.more = true
		if !due.Before(n.keys[MaxKeys-1].due) {
			return
		}
		n.keys = n.keys[:MaxKeys-1]
	}
	i, _ := slices.BinarySearchFunc(n.keys, due, func(k dueKey[K], due time.Time) int { return k.due.Compare(due) })
	n.keys = slices.Insert(n.keys, i, dueKey[K]{k, due})
}

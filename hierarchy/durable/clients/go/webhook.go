package epicycle

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Verifier verifies that webhooks come from the server, as Standard Webhooks specifies. It is safe for concurrent use.
type Verifier struct {
	secrets [][]byte
	open    []ed25519.PublicKey
}

const (
	secretPrefix = "whsec_" // before a key that the receiver shares with the server, of v1
	openPrefix   = "whpk_"  // before a public key, of v1a
)

// NewVerifier returns a Verifier with keys. The text has a key in each line: what is in the server's -secret-file, and
// public keys that begin with whpk_. A text without any such prefix is one key, as it is.
func NewVerifier(keys string) (*Verifier, error) {
	keys = strings.TrimRight(keys, "\r\n")
	v := new(Verifier)
	if !strings.HasPrefix(keys, secretPrefix) && !strings.HasPrefix(keys, openPrefix) {
		if keys == "" {
			return nil, errors.New("there is no key")
		}
		v.secrets = [][]byte{[]byte(keys)}
		return v, nil
	}
	for line := range strings.Lines(keys) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := v.add(line); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Verifier) add(line string) error {
	text, secret := strings.CutPrefix(line, secretPrefix)
	text, open := strings.CutPrefix(text, openPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case secret == open || err != nil || len(key) == 0, open && len(key) != ed25519.PublicKeySize:
		return errors.New("a key is not whsec_ or whpk_ and base64")
	case open:
		v.open = append(v.open, key)
	default:
		v.secrets = append(v.secrets, key)
	}
	return nil
}

// Delivery is a webhook. ID and Value are signed; the other fields are what its headers say.
type Delivery struct {
	ID      string // the same at each attempt: effects that are stored with it happen once
	Value   json.RawMessage
	Key     string
	Due     time.Time
	Attempt int // from 1
}

// tolerance is how far the time of a webhook may be from that of this machine, so that one that somebody has recorded
// can't be sent again later.
const tolerance = 5 * time.Minute

// ErrSignature is returned for a webhook that does not come from the server, or did so some time ago.
var ErrSignature = errors.New("the webhook is not signed by the server")

// Verify returns the webhook with a header and a body, or an error that is ErrSignature if it does not come from the
// server. Answer 401 then.
func (v *Verifier) Verify(h http.Header, body []byte) (d Delivery, err error) {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return d, fmt.Errorf("%w: webhook-timestamp is no time", ErrSignature)
	}
	if age := time.Since(time.Unix(seconds, 0)); age.Abs() > tolerance {
		return d, fmt.Errorf("%w within %v: it was %v ago", ErrSignature, tolerance, age.Round(time.Second))
	}
	signed := append([]byte(id+"."+at+"."), body...)
	for one := range strings.FieldsSeq(strings.Join(h.Values("webhook-signature"), " ")) {
		if v.signed(one, signed) {
			return delivery(id, h, body), nil
		}
	}
	return d, ErrSignature
}

func (v *Verifier) signed(signature string, text []byte) bool {
	version, encoded, _ := strings.Cut(signature, ",")
	given, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	switch version {
	case "v1":
		for _, key := range v.secrets {
			mac := hmac.New(sha256.New, key)
			mac.Write(text)
			if hmac.Equal(mac.Sum(nil), given) {
				return true
			}
		}
	case "v1a":
		for _, key := range v.open {
			if ed25519.Verify(key, text, given) {
				return true
			}
		}
	}
	return false
}

func delivery(id string, h http.Header, body []byte) Delivery {
	d := Delivery{ID: id, Value: body, Key: h.Get("epicycle-key")}
	if key, err := url.PathUnescape(d.Key); err == nil {
		d.Key = key
	}
	d.Due, _ = time.Parse(time.RFC3339Nano, h.Get("epicycle-due"))
	d.Attempt, _ = strconv.Atoi(h.Get("epicycle-attempt"))
	return d
}

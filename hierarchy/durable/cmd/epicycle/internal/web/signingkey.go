package web

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SigningKeys sign webhooks with Ed25519, as v1a of Standard Webhooks. Receivers need only the public keys.
type SigningKeys []ed25519.PrivateKey

const (
	privatePrefix = "whsk_"
	publicPrefix  = "whpk_"
)

// NewSigningKey returns a new random key, as a line of the file that ParseSigningKeys reads, and its public key.
func NewSigningKey() (private, public string) {
	open, secret, _ := ed25519.GenerateKey(nil) // never returns an error
	return privatePrefix + base64.StdEncoding.EncodeToString(secret), publicPrefix + base64.StdEncoding.EncodeToString(open)
}

// ParseSigningKeys reads a file with keys: one per line, each of them whsk_ followed by base64. It ignores empty lines,
// and lines that begin with #.
func ParseSigningKeys(file []byte) (all SigningKeys, err error) {
	n := 0
	for line := range strings.Lines(string(file)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := parseSigningKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d %w", n, err)
		}
		all = append(all, key)
	}
	if len(all) == 0 {
		return nil, errors.New("there is no key")
	}
	return all, nil
}

// parseSigningKey parses a key: a seed, or as other programs write it, a seed and the public key.
func parseSigningKey(line string) (ed25519.PrivateKey, error) {
	text, ok := strings.CutPrefix(line, privatePrefix)
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(b) != ed25519.SeedSize && len(b) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("is not %s and base64 of a key of Ed25519", privatePrefix)
	}
	key := ed25519.NewKeyFromSeed(b[:ed25519.SeedSize])
	if len(b) == ed25519.PrivateKeySize && !key.Equal(ed25519.PrivateKey(b)) {
		return nil, errors.New("has a public key that does not belong to the private one")
	}
	return key, nil
}

// signatures returns the signatures by all keys.
func (s SigningKeys) signatures(id string, at time.Time, body []byte) (all []string) {
	if len(s) == 0 {
		return nil
	}
	text := append([]byte(id+"."+strconv.FormatInt(at.Unix(), 10)+"."), body...)
	for _, key := range s {
		all = append(all, "v1a,"+base64.StdEncoding.EncodeToString(ed25519.Sign(key, text)))
	}
	return all
}

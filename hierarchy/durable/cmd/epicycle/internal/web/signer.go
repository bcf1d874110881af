package web

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Signer signs webhooks as Standard Webhooks specifies, with one or several keys.
type Signer struct{ keys []*standardwebhooks.Webhook }

const secretPrefix = "whsec_"

// NewSecret returns a new random key, as a line of the file that NewSigner reads.
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// NewSigner reads a file with keys: one per line, each of them whsec_ followed by base64. A file that does not
// begin with whsec_ is a single key, used as it is, without the line end after it.
func NewSigner(file []byte) (*Signer, error) {
	file = bytes.TrimRight(file, "\r\n")
	if len(file) == 0 {
		return nil, fmt.Errorf("there is no secret")
	}
	s := new(Signer)
	if !bytes.HasPrefix(file, []byte(secretPrefix)) {
		key, err := standardwebhooks.NewWebhookRaw(file)
		s.keys = append(s.keys, key)
		return s, err
	}
	for n, line := range strings.Split(string(file), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, err := standardwebhooks.NewWebhook(line)
		if err != nil || !strings.HasPrefix(line, secretPrefix) || line == secretPrefix {
			return nil, fmt.Errorf("line %d is not %s and base64", n+1, secretPrefix)
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

// signatures returns the signatures by all keys of a nil Signer, or of another one.
func (s *Signer) signatures(id string, at time.Time, body []byte) (all []string, err error) {
	if s == nil {
		return nil, nil
	}
	for _, key := range s.keys {
		one, err := key.Sign(id, at, body)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

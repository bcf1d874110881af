package web

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// Keys are the keys by which webhooks are signed.
type Keys struct {
	Server  *Signer     // of webhooks that name no secret; may be nil
	Signing SigningKeys // of all webhooks, besides
	named   atomic.Pointer[map[string]*Signer]
}

// Has reports whether there is a secret with a name.
func (k *Keys) Has(name string) bool {
	_, ok := k.signer(name)
	return ok
}

// signer returns the signer of the secret with a name or, if that is empty, of the server.
func (k *Keys) signer(name string) (s *Signer, ok bool) {
	switch {
	case k == nil:
		return nil, name == ""
	case name == "":
		return k.Server, true
	}
	if named := k.named.Load(); named != nil {
		s = (*named)[name]
	}
	return s, s != nil
}

// sign adds the headers of Standard Webhooks. Without keys it adds all these headers except the signature.
func (k *Keys) sign(h http.Header, secret, id string, at time.Time, body []byte) error {
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	s, ok := k.signer(secret)
	if !ok {
		return fmt.Errorf("this server has no secret %q", secret)
	}
	all, err := s.signatures(id, at, body)
	if err != nil {
		return err
	}
	if k != nil {
		all = append(all, k.Signing.signatures(id, at, body)...)
	}
	if len(all) > 0 {
		h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(all, " "))
	}
	return nil
}

// Limits of a directory of secrets.
const (
	maxSecrets    = 10000
	maxSecretFile = 64 << 10
)

// ReadDir replaces the named secrets by those of a directory: each file has one, and its name is that of the secret.
// Directories are left out, and so are files that begin with a dot.
func (k *Keys) ReadDir(dir string) error {
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	named := make(map[string]*Signer)
	for _, file := range files {
		name := file.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		s, err := readSecret(root, name)
		switch {
		case errors.Is(err, errDirectory):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case len(named) == maxSecrets:
			return fmt.Errorf("there are more than %d files", maxSecrets)
		}
		named[name] = s
	}
	k.named.Store(&named)
	return nil
}

var errDirectory = errors.New("it is a directory")

// readSecret reads a file of secrets.
func readSecret(root *os.Root, name string) (*Signer, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errDirectory
	case !task.IsSecretName(name):
		return nil, errors.New("a name has letters, digits, dots, hyphens and underscores")
	case !info.Mode().IsRegular(): // such as a pipe, which could block
		return nil, errors.New("it is no regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSecretFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxSecretFile)
	}
	return NewSigner(text)
}

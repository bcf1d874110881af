package web

import (
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// files writes files into a new directory.
func files(t *testing.T, all map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range all {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// verifies reports whether headers have a signature of a body by a secret.
func verifies(t *testing.T, h http.Header, secret, body string) bool {
	t.Helper()
	key, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	require.NoError(t, err)
	return key.Verify([]byte(body), h) == nil
}

// A webhook is signed by the secret that it names, and by no other. What is wrong with a directory changes nothing.
func TestSecretsOfADirectory(t *testing.T) {
	dir := files(t, map[string]string{"shop": "secret of shop", "mail.2": NewSecret() + "\n" + NewSecret(), ".hidden": "", "..data": ""})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	server, err := NewSigner([]byte("secret of the server"))
	require.NoError(t, err)
	k := &Keys{Server: server}
	require.False(t, k.Has("shop"))
	require.NoError(t, k.ReadDir(dir))
	for name, has := range map[string]bool{"shop": true, "mail.2": true, "": true, "directory": false, ".hidden": false, "../shop": false, "SHOP": false, "x": false} {
		require.Equal(t, has, k.Has(name), name)
	}
	sign := func(secret string) (http.Header, error) {
		h := make(http.Header)
		return h, k.sign(h, secret, "id", time.Now(), []byte("body"))
	}
	h, err := sign("shop")
	require.NoError(t, err)
	require.True(t, verifies(t, h, "secret of shop", "body"))
	require.False(t, verifies(t, h, "secret of the server", "body"))
	h, err = sign("")
	require.NoError(t, err)
	require.True(t, verifies(t, h, "secret of the server", "body"))
	h, err = sign("mail.2")
	require.NoError(t, err)
	require.Len(t, strings.Fields(h.Get("webhook-signature")), 2)
	h, err = sign("none")
	require.EqualError(t, err, `this server has no secret "none"`)
	require.Empty(t, h.Get("webhook-signature"), "nothing is signed by another key instead")

	for name, text := range map[string]string{"empty": "", "bad name": "x", "bad": secretPrefix + "%", "large": strings.Repeat("x", maxSecretFile+1)} {
		bad := files(t, map[string]string{"shop": "another", name: text})
		require.ErrorContains(t, k.ReadDir(bad), name+": ")
	}
	outside := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(dir, "shop"), filepath.Join(outside, "link")))
	require.ErrorContains(t, k.ReadDir(outside), "link: ")
	require.Error(t, k.ReadDir(filepath.Join(dir, "none")))
	h, err = sign("shop")
	require.NoError(t, err)
	require.True(t, verifies(t, h, "secret of shop", "body"))

	require.NoError(t, k.ReadDir(t.TempDir()))
	require.False(t, k.Has("shop"), "its file has gone")
	require.True(t, (*Keys)(nil).Has(""))
	require.False(t, (*Keys)(nil).Has("shop"))
}

// v1a is as Standard Webhooks specifies it: whoever has the public key verifies it.
func TestSigningKeys(t *testing.T) {
	private, public := NewSigningKey()
	seed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(private, privatePrefix))
	require.NoError(t, err)
	short := privatePrefix + base64.StdEncoding.EncodeToString(seed[:32])
	all, err := ParseSigningKeys([]byte("# " + public + "\n" + private + "\r\n\n " + short))
	require.NoError(t, err)
	require.Len(t, all, 2)
	server, err := NewSigner([]byte("secret"))
	require.NoError(t, err)
	k := &Keys{Server: server, Signing: all}
	h := make(http.Header)
	require.NoError(t, k.sign(h, "", "id", time.Unix(17, 5), []byte("body")))
	signatures := strings.Fields(h.Get("webhook-signature"))
	require.Len(t, signatures, 3)
	require.True(t, strings.HasPrefix(signatures[0], "v1,"))
	open, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, publicPrefix))
	require.NoError(t, err)
	for _, one := range signatures[1:] {
		b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1a,"))
		require.NoError(t, err)
		require.True(t, ed25519.Verify(open, []byte("id.17.body"), b))
	}
	_, other := NewSigningKey()
	require.NotEqual(t, public, other)
	mixed := append(seed[:32:32], make([]byte, 32)...)
	for _, file := range []string{
		"", "\n", "# " + private, "nonsense", strings.TrimPrefix(private, privatePrefix), privatePrefix, privatePrefix + "%",
		privatePrefix + "AAAA", public, NewSecret(), private + "\n" + public, privatePrefix + base64.StdEncoding.EncodeToString(mixed),
	} {
		_, err := ParseSigningKeys([]byte(file))
		require.Error(t, err, file)
		require.NotContains(t, err.Error(), privatePrefix+"A", "an error has no part of a key")
	}
}

// A request is as its hook says, and what is signed is what is sent. Headers of the hook never replace those of the server.
func TestHook(t *testing.T) {
	type got struct {
		method, body string
		header       http.Header
	}
	var last got
	_, u, _ := sender(t, loopback, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = got{r.Method, string(b), r.Header.Clone()}
	})
	server, err := NewSigner([]byte("secret"))
	require.NoError(t, err)
	s := NewSender(loopback, &Keys{Server: server}, 1, "test")
	defer s.Close()
	for method, want := range map[string]got{
		"": {method: "POST", body: "17"}, "POST": {method: "POST", body: "17"}, "PUT": {method: "PUT", body: "17"},
		"PATCH": {method: "PATCH", body: "17"}, "GET": {method: "GET"}, "DELETE": {method: "DELETE"},
	} {
		status, err := s.Send(t.Context(), &Request{URL: u.String(), Key: "k", ID: "i", Attempt: 3, Body: []byte("17"), Hook: task.Hook{
			Method: method, Headers: []task.Header{{Name: "authorization", Value: "Bearer x"}, {Name: "X-Empty"}, {Name: "x_Under", Value: "1"}},
		}})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, want.method, last.method)
		require.Equal(t, want.body, last.body, method)
		require.Equal(t, want.body != "", last.header.Get("Content-Type") == "application/json")
		require.Equal(t, "Bearer x", last.header.Get("Authorization"))
		require.Equal(t, []string{""}, last.header["X-Empty"])
		require.True(t, verifies(t, last.header, "secret", want.body))
	}
	status, err := s.Send(t.Context(), &Request{URL: u.String(), Key: "k", ID: "i", Attempt: 3, Body: []byte("17"), Hook: task.Hook{
		Headers: []task.Header{{Name: "content-type", Value: "text/plain"}, {Name: "User-Agent", Value: "me"}, {Name: "webhook-id", Value: "forged"}, {Name: "epicycle-key", Value: "forged"}},
	}})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []string{"text/plain"}, last.header["Content-Type"])
	require.Equal(t, []string{"me"}, last.header["User-Agent"])
	require.Equal(t, []string{"i"}, last.header["Webhook-Id"])
	require.Equal(t, []string{"k"}, last.header["Epicycle-Key"])
	last = got{}
	_, err = s.Send(t.Context(), &Request{URL: u.String(), ID: "i", Hook: task.Hook{Secret: "none"}})
	require.Error(t, err)
	require.Empty(t, last.method, "nothing is sent without the signature that was asked for")
}

package clients

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// webhookOf returns the header and the body of a webhook of a server with a secret.
func webhookOf(t *testing.T, secret, key, value string) (header map[string]string, body string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret), 0o600))
	type call struct {
		header http.Header
		body   string
	}
	calls := make(chan call, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, string(b)}
	}))
	defer hook.Close()
	request, err := http.NewRequest(http.MethodPut, serve(t, "-secret-file", file)+"/v1/timers/?key="+key,
		strings.NewReader(`{"in":"0s","value":`+value+`,"to":{"webhook":"`+hook.URL+`"}}`))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	select {
	case c := <-calls:
		header = make(map[string]string)
		for name := range c.header {
			header[name] = c.header.Get(name)
		}
		return header, c.body
	case <-time.After(enough):
		t.Fatal("no webhook")
		return nil, ""
	}
}

// A webhook is from the server if one of its signatures is by one of the keys, and it is recent.
func TestVerify(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		first, second := web.NewSecret(), web.NewSecret()
		header, body := webhookOf(t, first+"\n"+second+"\n", "a%2Fb%20%C3%A4", `{"id": 17, "text":"ä"}`)
		d := start("http://127.0.0.1:1")
		verify := func(keys string) args { return args{"keys": keys, "headers": header, "body": body} }
		for _, keys := range []string{first, second + "\n", web.NewSecret() + "\n" + first} {
			require.Equal(t, map[string]any{
				"id": header["Webhook-Id"], "key": "a/b ä", "attempt": 1.0, "value": map[string]any{"id": 17.0, "text": "ä"},
			}, d.do("verify", verify(keys)))
		}
		refused := func(keys, body string, change args) {
			t.Helper()
			h := maps.Clone(header)
			for name, value := range change {
				h[name] = value.(string)
			}
			require.Equal(t, "SignatureError", d.fails("verify", args{"keys": keys, "headers": h, "body": body}).Kind)
		}
		refused(web.NewSecret(), body, nil)
		refused(first, body+" ", nil)
		refused(first, body, args{"Webhook-Id": "x"})
		refused(first, body, args{"Webhook-Timestamp": "x"})
		refused(first, body, args{"Webhook-Timestamp": ""})
		for _, text := range []string{"", "v1,", "v1", "v2," + header["Webhook-Signature"][3:], "v1,!"} {
			refused(first, body, args{"Webhook-Signature": text})
		}
		for _, keys := range []string{"", "whsec_", "whsec_!", "whpk_AAAA", "whsec_AAAA\nwhpk_"} {
			require.NotEqual(t, "SignatureError", d.fails("verify", verify(keys)).Kind, keys)
		}
	})
}

// A webhook that was recorded is refused later, though its signature is right.
func TestVerifyTime(t *testing.T) {
	each(t, func(t *testing.T, start func(string, ...string) *driver) {
		open, private, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		d := start("http://127.0.0.1:1")
		signed := func(at time.Time, body string) args {
			text := fmt.Sprintf("id.%d.%s", at.Unix(), body)
			signature := base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(text)))
			return args{
				"keys": "whpk_" + base64.StdEncoding.EncodeToString(open), "body": body, "headers": args{
					"webhook-id": "id", "webhook-timestamp": fmt.Sprint(at.Unix()), "webhook-signature": "v1,AAAA v1a," + signature,
				},
			}
		}
		for _, body := range []string{`1`, `"2"`, `[3]`, `{"a":4}`} {
			d.do("verify", signed(time.Now(), body))
			changed := signed(time.Now(), body)
			changed["body"] = body + " "
			require.Equal(t, "SignatureError", d.fails("verify", changed).Kind)
		}
		for _, age := range []time.Duration{time.Hour, -time.Hour, 6 * time.Minute, -6 * time.Minute} {
			require.Equal(t, "SignatureError", d.fails("verify", signed(time.Now().Add(-age), "1")).Kind)
		}
	})
}

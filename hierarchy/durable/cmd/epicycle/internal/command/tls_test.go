package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certificate writes one for this machine, and its key.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "epicycle"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return write(t, "cert", string(text)), write(t, "key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))), pool
}

// With a certificate and tokens the server listens anywhere, and speaks TLS only, with HTTP/2 and without.
func TestTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	s := serve(t, "-listen", "0.0.0.0:0", "-tls-cert", cert, "-tls-key", key, "-tokens", write(t, "tokens", tokenLine("a", "admin", "t", "")))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", port)
	for proto, http2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: http2}
		t.Cleanup(transport.CloseIdleConnections)
		do := func(method, path, body string) (int, string) {
			req, err := http.NewRequest(method, "https://"+address+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer t")
			resp, err := (&http.Client{Transport: transport, Timeout: enough}).Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Equal(t, proto, resp.Proto)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return resp.StatusCode, string(b)
		}
		status, _ := do("PUT", "/v1/timers/"+proto[5:], `{"in":"1h","to":{"queue":"q"}}`)
		require.Equal(t, 200, status)
		status, text := do("GET", "/v1/export", "")
		require.Equal(t, 200, status)
		status, _ = do("POST", "/v1/import", text)
		require.Equal(t, 200, status)
		status, text = do("POST", "/v1/import", text+"nonsense\n")
		require.Equal(t, 400, status, text)
	}
	status, err := (&served{t: t, url: "http://" + address}).try("GET", "/v1/timers", "")
	require.True(t, err != nil || status == http.StatusBadRequest, "no answer without TLS")
	_, err = tls.Dial("tcp", address, &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}) //nolint:gosec // it must be refused
	require.Error(t, err)
}

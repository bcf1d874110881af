package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs certificates of clients.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &authority{t: t, key: key}
	der := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, &key.PublicKey)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.file = write(t, "ca", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return a
}

// sign signs a certificate, or if there is none yet, that of the authority itself.
func (a *authority) sign(template *x509.Certificate, public *ecdsa.PublicKey) []byte {
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	above := a.cert
	if above == nil {
		above = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, above, public, a.key)
	require.NoError(a.t, err)
	return der
}

// client returns files with a certificate and its key.
func (a *authority) client(name string, until time.Time, usage x509.ExtKeyUsage) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-2 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}, &private.PublicKey)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return write(a.t, "cert", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		write(a.t, "key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// good returns a certificate that a client may use.
func (a *authority) good(name string) (cert, key string) {
	return a.client(name, time.Now().Add(time.Hour), x509.ExtKeyUsageClientAuth)
}

// statusOf returns the status of an answer to a client with a certificate, or an error if it gets no connection.
func statusOf(t *testing.T, address, serverCA, cert, key, path, token string) (int, error) {
	config, err := clientTLS(serverCA, cert, key)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest("GET", "https://"+address+path, http.NoBody)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: transport, Timeout: enough}).Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// Each connection needs a certificate of the authorities that is for clients and has not expired. Its name is that of a
// line of the tokens, unless the request has a token. The commands have a certificate, too.
func TestClientCertificates(t *testing.T) {
	serverCert, serverKey, _ := certificate(t)
	ours, others := newAuthority(t), newAuthority(t)
	tokens := tokenLine("reader", "read", "tr", "") + "shop write - order-\n" + tokenLine("root", "admin", "ta", "")
	s := serve(t, "-tls-cert", serverCert, "-tls-key", serverKey, "-client-ca", ours.file, "-tokens", write(t, "tokens", tokens))
	address := s.url[len("http://"):]
	status := func(cert, key, path, token string) int {
		code, err := statusOf(t, address, serverCert, cert, key, path, token)
		require.NoError(t, err)
		return code
	}
	refused := func(cert, key string) {
		_, err := statusOf(t, address, serverCert, cert, key, "/healthz", "ta")
		require.ErrorContains(t, err, "tls: ")
	}
	refused("", "")
	refused(others.good("reader"))
	refused(ours.client("reader", time.Now().Add(-time.Minute), x509.ExtKeyUsageClientAuth))
	refused(ours.client("reader", time.Now().Add(3*time.Hour), x509.ExtKeyUsageClientAuth)) // it is not valid yet
	refused(ours.client("reader", time.Now().Add(time.Hour), x509.ExtKeyUsageServerAuth))

	cert, key := ours.good("reader")
	require.Equal(t, 200, status(cert, key, "/v1/timers", ""))
	require.Equal(t, 200, status(cert, key, "/metrics", ""))
	require.Equal(t, 401, status(cert, key, "/v1/timers", "nonsense"), "a token that is unknown is not passed over")
	cert, key = ours.good("shop")
	require.Equal(t, 404, status(cert, key, "/v1/timers/order-1", ""))
	require.Equal(t, 403, status(cert, key, "/v1/timers/other", ""))
	require.Equal(t, 404, status(cert, key, "/v1/timers/other", "ta"), "the token decides")
	require.Equal(t, 401, status(cert, key, "/v1/timers/other", "-"))
	cert, key = ours.good("nobody")
	require.Equal(t, 401, status(cert, key, "/v1/timers", ""))
	require.Equal(t, 200, status(cert, key, "/readyz", ""))
	require.Equal(t, 200, status(cert, key, "/v1/timers", "tr"))

	cert, key = ours.good("shop")
	t.Setenv("EPICYCLE_CA", serverCert)
	t.Setenv("EPICYCLE_CERT", cert)
	t.Setenv("EPICYCLE_KEY", key)
	t.Setenv("EPICYCLE_TOKEN", "")
	remote := &served{t: t, url: "https://" + address}
	code, out, errs := remote.command("", "set", "order-1", "-in", "1h", "-queue", "q")
	require.Equal(t, 0, code, "%s%s", out, errs)
	code, _, _ = remote.command("", "set", "other", "-in", "1h", "-queue", "q")
	require.Equal(t, 3, code)
	t.Setenv("EPICYCLE_KEY", "nothing")
	code, _, errs = remote.command("", "ls")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "EPICYCLE_CERT and EPICYCLE_KEY")
}

// After a reload the new authorities decide, also about a client that was there before. A file that has none leaves the
// old ones.
func TestNewClientAuthorities(t *testing.T) {
	serverCert, serverKey, pool := certificate(t)
	before, after := newAuthority(t), newAuthority(t)
	logs := newLogs()
	f, err := (&server{listen: "127.0.0.1:0", cert: serverCert, key: serverKey, clientCA: before.file, maxConns: 1}).
		front(slog.New(slog.NewTextHandler(logs, nil)), nil)
	require.NoError(t, err)
	defer f.close()
	go func() {
		for {
			c, err := f.listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("x")) // with which the client gets what it needs to resume a session
			c.Close()
		}
	}()
	dial := func(a *authority) func() error {
		own, err := tls.LoadX509KeyPair(a.good("x"))
		require.NoError(t, err)
		config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		return func() error {
			c, err := tls.Dial("tcp", f.address(), config)
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Read(make([]byte, 1))
			return err
		}
	}
	old, young := dial(before), dial(after)
	require.NoError(t, old())
	require.Error(t, young())
	require.NoError(t, os.WriteFile(before.file, []byte("nothing"), 0o600))
	f.reload()
	require.Contains(t, logs.String(), "flag=-client-ca")
	require.NoError(t, old())
	text, err := os.ReadFile(after.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(before.file, text, 0o600))
	f.reload()
	require.NoError(t, young())
	require.Error(t, old())
}

func TestClientCANeedsTLS(t *testing.T) {
	_, err := (&server{listen: "127.0.0.1:0", clientCA: "x"}).front(slog.Default(), nil)
	require.ErrorContains(t, err, "-client-ca needs -tls-cert")
	cert, key, _ := certificate(t)
	_, err = (&server{listen: "127.0.0.1:0", cert: cert, key: key, clientCA: write(t, "ca", "nothing")}).front(slog.Default(), nil)
	require.ErrorContains(t, err, "there is no certificate")
}

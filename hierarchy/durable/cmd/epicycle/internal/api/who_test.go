package api

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// A certificate names its bearer until it expires, also on a connection that was made before, and only if it was verified.
func TestCertificateOfARequest(t *testing.T) {
	tokens, err := access.Parse(strings.NewReader("shop write -"))
	require.NoError(t, err)
	r := httptest.NewRequest("GET", "/v1/timers", nil)
	_, ok := bearer(r, tokens)
	require.False(t, ok)
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "shop"}, NotAfter: time.Now().Add(time.Hour)}
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
	_, ok = bearer(r, tokens)
	require.False(t, ok, "nobody has verified it")
	r.TLS.VerifiedChains = [][]*x509.Certificate{{cert}}
	who, ok := bearer(r, tokens)
	require.True(t, ok)
	require.Equal(t, "shop", who.Name)
	cert.NotAfter = time.Now().Add(-time.Second)
	_, ok = bearer(r, tokens)
	require.False(t, ok)
}

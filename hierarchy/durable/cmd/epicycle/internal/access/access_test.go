package access

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sum(token string) string {
	s := sha256.Sum256([]byte(token))
	return hex.EncodeToString(s[:])
}

func TestTokens(t *testing.T) {
	tokens, err := Parse(strings.NewReader("# who may\n\nann admin " + sum("a") + "\nshop write " + strings.ToUpper(sum("b")) + " order-\r\n"))
	require.NoError(t, err)
	ann, ok := tokens.Bearer("a")
	require.True(t, ok)
	require.Equal(t, Bearer{"ann", Admin, ""}, *ann)
	require.True(t, ann.MayKey("anything"))
	shop, ok := tokens.Bearer("b")
	require.True(t, ok)
	require.Equal(t, Bearer{"shop", Write, "order-"}, *shop)
	require.True(t, shop.MayKey("order-17"))
	require.False(t, shop.MayKey("orde"))
	for _, other := range []string{"", "c", "A", sum("a")} {
		_, ok := tokens.Bearer(other)
		require.False(t, ok, other)
	}
}

// A line without a token is for a client certificate of that name alone.
func TestNames(t *testing.T) {
	tokens, err := Parse(strings.NewReader("ann admin " + sum("a") + "\nshop write - order-\n"))
	require.NoError(t, err)
	shop, ok := tokens.Named("shop")
	require.True(t, ok)
	require.Equal(t, Bearer{"shop", Write, "order-"}, *shop)
	ann, ok := tokens.Named("ann")
	require.True(t, ok)
	require.Equal(t, Admin, ann.Role)
	for _, other := range []string{"", "Shop", "shop ", "order-"} {
		_, ok := tokens.Named(other)
		require.False(t, ok, other)
	}
	for _, token := range []string{"-", "", "shop", string(make([]byte, 32))} {
		_, ok := tokens.Bearer(token)
		require.False(t, ok, token)
	}
}

func TestBadTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no token",
		"# nothing":                      "no token",
		"ann admin":                      "line 1: 2 fields",
		"ann root " + sum("a"):           `"root" is none`,
		"ann admin secret":               "not the SHA-256",
		"ann admin " + sum("a") + " p q": "5 fields",
		"ann admin " + sum("a") + "\nann read " + sum("b"): "line 2: the name",
	} {
		_, err := Parse(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "secret")
	}
}

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

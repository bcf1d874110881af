package partition

import (
	"strings"
	"unicode/utf8"
)

// maxError is how many bytes of an error's text are in the log.
const maxError = 1 << 10

// errorText returns the text of an error for the log, or nil if there is none.
func errorText(err error) []byte {
	if err == nil {
		return nil
	}
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if len(text) > maxError {
		n := maxError
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return []byte(text)
}

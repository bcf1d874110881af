// Package checksum is the checksum of frames and marks.
package checksum

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Of is the CRC-32C (Castagnoli) of b.
func Of(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

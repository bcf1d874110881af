package filelog

import (
	"encoding/binary"
	"hash/crc32"
)

// OpenSmall opens a log whose files are small.
func OpenSmall(fsys FS, dir string) (*Log, error) {
	return open(fsys, dir, sizes{1 << 10, 4 << 10, 1 << 10})
}

// SetVersion changes the version in the header of a segment.
func SetVersion(data []byte, version uint32) {
	binary.LittleEndian.PutUint32(data[4:], version)
	binary.LittleEndian.PutUint32(data[28:], crc32.Checksum(data[:28], castagnoli))
}

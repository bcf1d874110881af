package salvage

import (
	"errors"
	"io"
	"os"
)

// blockSize is the size of what is left out where a file can't be read.
const blockSize = 4096

// unread is a part of a file that can't be read.
type unread struct {
	offset, size int64
	why          error
}

// contents returns the contents of a file, with zeros in place of what can't be read.
func contents(file string) ([]byte, []unread, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	data := make([]byte, info.Size())
	return data, readInto(data, f), nil
}

// readInto fills data from r. It returns what it could not read, which is zero in data.
func readInto(data []byte, r io.ReaderAt) (lost []unread) {
	for at := 0; at < len(data); {
		n, err := r.ReadAt(data[at:], int64(at))
		at += n
		if at == len(data) || errors.Is(err, io.EOF) { // the file may have become shorter
			return lost
		}
		end := min(at/blockSize*blockSize+blockSize, len(data))
		clear(data[at:end])
		lost = append(lost, unread{int64(at), int64(end - at), err})
		at = end
	}
	return lost
}

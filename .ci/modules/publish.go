package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// release is one version of all modules.
type release struct {
	repo, version, proxy string
	time                 time.Time
	sums                 map[string]sums // by module path; of the modules that are published already
}

// sums are what go.sum says of a module: of its zip, and of its go.mod.
type sums struct{ zip, mod string }

// publish writes the files of the proxy for a module, all of whose requirements in this repository are published.
func (r *release) publish(m *ours) error {
	version := module.Version{Path: m.path(), Version: r.version}
	if err := module.Check(version.Path, version.Version); err != nil {
		return err
	}
	if err := r.edit(m); err != nil {
		return err
	}
	escaped, err := module.EscapePath(m.path())
	if err != nil {
		return err
	}
	at := filepath.Join(r.proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		return err
	}
	mod := modfileText(m)
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.version, r.time})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{".mod": mod, ".info": info} {
		if err := os.WriteFile(filepath.Join(at, r.version+name), text, 0o666); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(at, "list"), []byte(r.version+"\n"), 0o666); err != nil {
		return err
	}
	zipped := filepath.Join(at, r.version+".zip")
	if err := r.zip(zipped, version, m.dir); err != nil {
		return err
	}
	return r.sum(m.path(), zipped, mod)
}

// zip writes the zip that the go command would make of what git's index holds: with the LICENSE of the repository, and
// the same bytes each time.
func (r *release) zip(name string, version module.Version, dir string) error {
	tree, err := git(r.repo, "write-tree")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := zip.CreateFromVCS(&b, version, r.repo, tree, dir); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

func (r *release) sum(path, zipped string, mod []byte) error {
	ofZip, err := dirhash.HashZip(zipped, dirhash.Hash1)
	if err != nil {
		return err
	}
	ofMod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(mod)), nil
	})
	r.sums[path] = sums{ofZip, ofMod}
	return err
}

// edit makes a module require the others at the version, and replace nothing. The rest of its go.mod and go.sum stays:
// what it needs of others is the same, whether ours are replaced or not.
func (r *release) edit(m *ours) error {
	for _, one := range m.file.Replace {
		if _, ok := r.sums[one.Old.Path]; !ok {
			return fmt.Errorf("replaces %s, which nobody else would", one.Old)
		}
		if err := m.file.DropReplace(one.Old.Path, one.Old.Version); err != nil {
			return err
		}
	}
	var lines []string
	for _, one := range m.file.Require {
		known, ok := r.sums[one.Mod.Path]
		if !ok {
			continue
		}
		if err := m.file.AddRequire(one.Mod.Path, r.version); err != nil {
			return err
		}
		lines = append(lines, one.Mod.Path+" "+r.version+" "+known.zip, one.Mod.Path+" "+r.version+"/go.mod "+known.mod)
	}
	m.file.Cleanup()
	mod := filepath.Join(m.dir, "go.mod")
	if err := os.WriteFile(filepath.Join(r.repo, mod), modfileText(m), 0o666); err != nil {
		return err
	}
	sum := filepath.Join(m.dir, "go.sum")
	if err := addSums(filepath.Join(r.repo, sum), lines); err != nil {
		return err
	}
	_, err := git(r.repo, "add", mod, sum)
	return err
}

func modfileText(m *ours) []byte {
	text, err := m.file.Format()
	if err != nil {
		panic(err) // it was parsed
	}
	return text
}

// addSums adds lines to a go.sum, in the order of the go command.
func addSums(name string, lines []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	byVersion := make(map[module.Version]string)
	var versions []module.Version
	for line := range strings.Lines(string(text) + strings.Join(lines, "\n")) {
		if fields := strings.Fields(line); len(fields) == 3 {
			v := module.Version{Path: fields[0], Version: fields[1]}
			versions, byVersion[v] = append(versions, v), fields[2]
		}
	}
	module.Sort(versions)
	var b bytes.Buffer
	for _, v := range versions {
		fmt.Fprintln(&b, v.Path, v.Version, byVersion[v])
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

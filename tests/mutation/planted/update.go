package planted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// updateAll rewrites the entries in the directory list that still fit the code, but differ from it in place or names.
func updateAll(in *tree, list string, bugs []bug) error {
	for _, b := range bugs {
		if b.file != "" {
			continue
		}
		files, err := in.files(b.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		s, err := b.find(files)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := updateFile(filepath.Join(list, b.name+".txt"), b, s); err != nil {
			return err
		}
	}
	return nil
}

// updateFile rewrites the entry in the file at path to match the code at s.
func updateFile(path string, b bug, s spot) error {
	if s.in == b.in && len(s.renamed) == 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(unixLines(string(text)), oldMark)
	was, is := strings.TrimSpace("in: "+b.dir+" "+b.in), strings.TrimSpace("in: "+b.dir+" "+s.in)
	head = strings.Replace(head, was+"\n", is+"\n", 1)
	fmt.Printf("%s: %s %v\n", b.name, is, s.renamed)
	return os.WriteFile(path, []byte(head+oldMark+rename(b.old, s.renamed)+newMark+rename(b.new, s.renamed)+"\n"), 0o600)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// replacement has the names of a file, of one beside it with the new text, and of one with the old text.
type replacement struct{ name, text, old string }

// replace gives all files their new text, or none. Both texts of every file are written before the first file changes.
// From then on files are only renamed, and renamed back if one can't be, and the end of ctx is of no account.
func replace(ctx context.Context, files []*file, rename func(from, to string) error) error {
	var all []*replacement
	defer func() {
		for _, r := range all {
			os.Remove(r.text)
			os.Remove(r.old)
		}
	}()
	for _, f := range files {
		if f.text == nil {
			continue
		}
		r := &replacement{name: f.name}
		all = append(all, r)
		if err := errors.Join(r.write(f), ctx.Err()); err != nil {
			return fmt.Errorf("no file was changed: %w", err)
		}
	}
	for i, r := range all {
		if err := rename(r.text, r.name); err != nil {
			return restore(all[:i], rename, err)
		}
	}
	return nil
}

// write writes both texts beside f.
func (r *replacement) write(f *file) (err error) {
	now, err := os.ReadFile(f.name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.old) {
		return fmt.Errorf("%s: another program has just written the file", f.name)
	}
	if r.old, err = writeBeside(f, f.old); err != nil {
		return err
	}
	r.text, err = writeBeside(f, f.text)
	return err
}

// writeBeside writes a file in the directory of f, with its mode and owner, and returns its name.
func writeBeside(f *file, text []byte) (name string, err error) {
	t, err := os.CreateTemp(filepath.Dir(f.name), ".migrate-*")
	if err != nil {
		return "", err
	}
	_, err = t.Write(text)
	keepOwner(t, f.info)
	return t.Name(), errors.Join(err, t.Chmod(f.info.Mode().Perm()), t.Close())
}

// restore gives files their old text after an error.
func restore(files []*replacement, rename func(from, to string) error, cause error) error {
	var failed []error
	for _, r := range files {
		if err := rename(r.old, r.name); err != nil {
			failed = append(failed, fmt.Errorf("%s: its former text is in %s: %w", r.name, r.old, err))
			r.old = "" // stays
		}
	}
	if len(failed) == 0 {
		return fmt.Errorf("no file was changed: %w", cause)
	}
	return fmt.Errorf("%w\n%s changed, and can't be restored:\n%w", cause,
		counted(len(failed), "file was", "files were"), errors.Join(failed...))
}

package filelog

// OpenSmall opens a log whose files are small.
func OpenSmall(fs FS, dir string) (*Log, error) {
	return open(fs, dir, sizes{1 << 10, 4 << 10, 1 << 10})
}

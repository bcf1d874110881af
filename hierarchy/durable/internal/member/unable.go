package member

import "slices"

// SetUnable says that this member can't take a partition, so that the others do not leave it to this one, or
// that it can again.
func (m *Member) SetUnable(partition int, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, was := slices.BinarySearch(m.lease.unable, partition)
	switch {
	case is == was:
		return
	case is:
		m.lease.unable = slices.Insert(slices.Clone(m.lease.unable), at, partition)
	default:
		m.lease.unable = slices.Delete(slices.Clone(m.lease.unable), at, at+1)
	}
	signal(m.hurry)
}

package member

import "slices"

// SetUnable says that this member can't take a partition: the others should not leave it to this one. It
// stays so until the lease is lost.
func (m *Member) SetUnable(partition int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, there := slices.BinarySearch(m.lease.unable, partition)
	if there {
		return
	}
	m.lease.unable = slices.Insert(slices.Clone(m.lease.unable), at, partition)
	signal(m.hurry)
}

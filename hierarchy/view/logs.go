package view

import "github.com/epicycle-go/epicycle/hierarchy"

// LogSource is a Source whose timers are in logs on a disk. Package hierarchy/durable/view makes one of durable timers.
// Its page has a table of the logs. Of the Stats, the page shows Pending, Running, Scheduled (as set), Stopped (as
// removed), Moved, Fired (as attempts) and Lateness. The hands show the time since the Unix epoch.
type LogSource interface {
	Source
	Logs() []Log
}

// MemberSource is a LogSource whose logs are shared by several processes. Its page also has a table of the processes,
// and shows which of them owns each log.
type MemberSource interface {
	LogSource
	Members() []Member // empty if the logs are not shared
}

// Member is one of the processes that share the logs.
type Member struct {
	Text       string // identifies the process
	Partitions int    // number of partitions that the process owns
	Self       bool   // whether the process is the one that shows the page
	Leaving    bool   // whether the process is handing its partitions over to others
}

// memberFigures is a Member in a snapshot. doc.go documents its fields.
type memberFigures struct {
	Text       string `json:"text"`
	Partitions int    `json:"partitions"`
	Self       bool   `json:"self,omitzero"`
	Leaving    bool   `json:"leaving,omitzero"`
}

// membersOf returns nil if there are no members.
func membersOf(source Source) (all []memberFigures) {
	if s, ok := source.(MemberSource); ok {
		for _, m := range s.Members() {
			all = append(all, memberFigures(m))
		}
	}
	return all
}

// Log has the figures of one log.
type Log struct {
	Owner     string              // Text of the Member that owns the log, or "" if it is not owned or not shared
	Err       error               // why the log can't be used, or nil; if it is not nil, there are no figures
	Pending   int                 // timers that are not dead
	Running   int                 // attempts in progress
	Stuck     int                 // handlers that have not returned although their attempts have failed
	Dead      int                 // timers that have failed too often
	Failed    uint64              // attempts that have failed
	Frames    uint64              // frames written
	Bytes     uint64              // bytes written
	DiskBytes int64               // size of the log on the disk
	LiveBytes int64               // size of the live timers in the log
	Commit    hierarchy.Histogram // time from sending a frame to its acknowledgement
}

// logFigures is a Log in a snapshot. doc.go documents its fields.
type logFigures struct {
	Owner     string   `json:"owner,omitempty"`
	Error     string   `json:"error,omitempty"`
	Pending   int      `json:"pending"`
	Running   int      `json:"running"`
	Stuck     int      `json:"stuck"`
	Dead      int      `json:"dead"`
	Failed    uint64   `json:"failed"`
	Frames    uint64   `json:"frames"`
	Bytes     uint64   `json:"bytes"`
	DiskBytes int64    `json:"disk_bytes"`
	LiveBytes int64    `json:"live_bytes"`
	Commit    lateness `json:"commit"`
}

// logsOf returns nil for a wheel in memory.
func logsOf(source Source) []logFigures {
	s, ok := source.(LogSource)
	if !ok {
		return nil
	}
	logs := s.Logs()
	all := make([]logFigures, len(logs)) // never null in JSON
	for i, l := range logs {
		all[i] = l.figures()
	}
	return all
}

func (l Log) figures() logFigures {
	f := logFigures{
		Owner:   l.Owner,
		Pending: l.Pending, Running: l.Running, Stuck: l.Stuck, Dead: l.Dead, Failed: l.Failed, Frames: l.Frames,
		Bytes: l.Bytes, DiskBytes: l.DiskBytes, LiveBytes: l.LiveBytes,
		Commit: latenessOf(l.Commit, nil),
	}
	f.Commit.Buckets = nil
	if l.Err != nil {
		f.Error = l.Err.Error()
	}
	return f
}

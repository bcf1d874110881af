package jetstream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/nats-io/nats.go/jetstream"
)

// usage describes what a stream is used for. An operator or another program may have created or edited the stream.
type usage struct {
	Subject string
	// PerSubject is the least number of messages of each subject that must be kept. 0 means all messages.
	PerSubject int64
	Direct     bool // the stream is read by direct requests
	Purge      bool // the stream's oldest messages are deleted
	Largest    int  // the size of the largest message
}

// checkSettings returns an error that names the settings that must be changed, or nil. It accepts all others, such as
// replicas, placement and compression. It accepts a limit of the stream's size if a full stream refuses messages: calls
// then have no answer until there is room.
func checkSettings(cfg jetstream.StreamConfig, needs usage) error {
	var wrong []string
	must := func(right bool, format string, args ...any) {
		if !right {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	keeps(cfg, needs, must)
	works(cfg, needs, must)
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("the stream %s has %w: %s", cfg.Name, storage.ErrSettings, strings.Join(wrong, ", "))
}

// keeps checks that no setting makes the stream delete or lose messages.
func keeps(cfg jetstream.StreamConfig, needs usage, must func(bool, string, ...any)) {
	must(cfg.Storage == jetstream.FileStorage, "storage is %v and must be file", cfg.Storage)
	must(cfg.Retention == jetstream.LimitsPolicy, "retention is %v and must be limits", cfg.Retention)
	must(cfg.MaxAge == 0, "max_age is %v and must be 0", cfg.MaxAge)
	if cfg.Discard != jetstream.DiscardNew {
		must(cfg.MaxMsgs <= 0, "max_msgs is %d and must be -1, or discard must be new", cfg.MaxMsgs)
		must(cfg.MaxBytes <= 0, "max_bytes is %d and must be -1, or discard must be new", cfg.MaxBytes)
	}
	if most := cfg.MaxMsgsPerSubject; most > 0 && (needs.PerSubject == 0 || most < needs.PerSubject) {
		must(false, "max_msgs_per_subject is %d and must be %d", most, cmp.Or(needs.PerSubject, -1))
	}
	must(cfg.PersistMode == jetstream.DefaultPersistMode, "persist_mode is %v and must be the default", cfg.PersistMode)
}

// works checks the settings without which the stream can't be used.
func works(cfg jetstream.StreamConfig, needs usage, must func(bool, string, ...any)) {
	subjects := []string{needs.Subject}
	must(slices.Equal(cfg.Subjects, subjects), "subjects are %q and must be %q", cfg.Subjects, subjects)
	must(cfg.Mirror == nil, "mirror must not be set")
	must(len(cfg.Sources) == 0, "sources must not be set")
	must(cfg.SubjectTransform == nil, "subject_transform must not be set")
	must(!cfg.Sealed, "sealed is true and must be false")
	must(!cfg.NoAck, "no_ack is true and must be false")
	must(!cfg.AllowMsgCounter, "allow_msg_counter is true and must be false")
	must(!cfg.DiscardNewPerSubject, "discard_new_per_subject is true and must be false")
	must(cfg.FirstSeq <= 1 || needs.PerSubject != 0, "first_seq is %d and must be 0", cfg.FirstSeq)
	must(cfg.AllowDirect || !needs.Direct, "allow_direct is false and must be true")
	must(!cfg.DenyPurge || !needs.Purge, "deny_purge is true and must be false")
	must(cfg.MaxMsgSize <= 0 || int(cfg.MaxMsgSize) >= needs.Largest, "max_msg_size is %d and must be -1", cfg.MaxMsgSize)
}

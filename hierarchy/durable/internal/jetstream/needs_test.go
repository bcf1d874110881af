package jetstream

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// changes are settings that a log must not have, and what the error says of them.
var changes = map[string]func(*jetstream.StreamConfig){
	"storage is Memory and must be file":                            func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
	"retention is WorkQueue and must be limits":                     func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
	"retention is Interest and must be limits":                      func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
	"max_age is 1h0m0s and must be 0":                               func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
	"max_msgs is 9 and must be -1, or discard must be new":          func(c *jetstream.StreamConfig) { c.MaxMsgs = 9 },
	"max_bytes is 9 and must be -1, or discard must be new":         func(c *jetstream.StreamConfig) { c.MaxBytes = 9 },
	"max_msgs_per_subject is 9 and must be -1":                      func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 9 },
	"persist_mode is Async and must be the default":                 func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
	`subjects are ["log" "b"] and must be ["log"]`:                  func(c *jetstream.StreamConfig) { c.Subjects = []string{"log", "b"} },
	`subjects are ["b"] and must be ["log"]`:                        func(c *jetstream.StreamConfig) { c.Subjects = []string{"b"} },
	"mirror must not be set":                                        func(c *jetstream.StreamConfig) { c.Mirror = new(jetstream.StreamSource) },
	"sources must not be set":                                       func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{}} },
	"subject_transform must not be set":                             func(c *jetstream.StreamConfig) { c.SubjectTransform = new(jetstream.SubjectTransformConfig) },
	"sealed is true and must be false":                              func(c *jetstream.StreamConfig) { c.Sealed = true },
	"no_ack is true and must be false":                              func(c *jetstream.StreamConfig) { c.NoAck = true },
	"allow_msg_counter is true and must be false":                   func(c *jetstream.StreamConfig) { c.AllowMsgCounter = true },
	"discard_new_per_subject is true and must be false":             func(c *jetstream.StreamConfig) { c.DiscardNewPerSubject = true },
	"first_seq is 2 and must be 0":                                  func(c *jetstream.StreamConfig) { c.FirstSeq = 2 },
	"allow_direct is false and must be true":                        func(c *jetstream.StreamConfig) { c.AllowDirect = false },
	"deny_purge is true and must be false":                          func(c *jetstream.StreamConfig) { c.DenyPurge = true },
	"max_msg_size is 99 and must be -1":                             func(c *jetstream.StreamConfig) { c.MaxMsgSize = 99 },
	"max_age is 1h0m0s and must be 0, sealed is true and must be f": func(c *jetstream.StreamConfig) { c.MaxAge, c.Sealed = time.Hour, true },
}

var needs = usage{Subject: "log", Direct: true, Purge: true, Largest: 100}

func log() jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: "x", Subjects: []string{"log"}, Storage: jetstream.FileStorage, AllowDirect: true,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1}
}

func TestWhatIsRefused(t *testing.T) {
	require.NoError(t, checkSettings(log(), needs))
	for text, change := range changes {
		cfg := log()
		change(&cfg)
		err := checkSettings(cfg, needs)
		require.ErrorIs(t, err, storage.ErrSettings, text)
		require.ErrorContains(t, err, "the stream x has settings that it must not have: "+text)
	}
}

// What loses nothing is an operator's choice.
func TestWhatIsAccepted(t *testing.T) {
	for _, change := range []func(*jetstream.StreamConfig){
		func(c *jetstream.StreamConfig) { c.Replicas = 5 },
		func(c *jetstream.StreamConfig) { c.Compression = jetstream.S2Compression },
		func(c *jetstream.StreamConfig) { c.Discard, c.MaxBytes, c.MaxMsgs = jetstream.DiscardNew, 1<<30, 1<<20 },
		func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject, c.MaxMsgSize, c.FirstSeq = 0, 100, 1 },
		func(c *jetstream.StreamConfig) { c.DenyDelete, c.AllowRollup, c.AllowMsgTTL = true, true, true },
		func(c *jetstream.StreamConfig) {
			c.Description, c.Placement = "ours", &jetstream.Placement{Cluster: "a"}
		},
	} {
		cfg := log()
		change(&cfg)
		require.NoError(t, checkSettings(cfg, needs))
	}
}

// A stream that keeps the last messages of each subject must keep enough of them.
func TestLastMessagesOfSubjects(t *testing.T) {
	marks := usage{Subject: "log", PerSubject: 2}
	cfg := log()
	cfg.AllowDirect, cfg.DenyPurge, cfg.FirstSeq = false, true, 7
	for _, most := range []int64{-1, 0, 2, 10} {
		cfg.MaxMsgsPerSubject = most
		require.NoError(t, checkSettings(cfg, marks))
	}
	cfg.MaxMsgsPerSubject = 1
	require.ErrorContains(t, checkSettings(cfg, marks), "max_msgs_per_subject is 1 and must be 2")
}

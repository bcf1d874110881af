package storage

import (
	"context"
	"errors"
	"iter"
)

// The errors of a Log, in addition to ErrRefused and ErrAbsent. They are wrapped.
var (
	// ErrTaken means that another message is in the place. A process that gets this error is not the owner of the log.
	ErrTaken = errors.New("the log has another owner")
	// ErrStranger means that a message that is not a frame of the log is in the place. The message to be appended is
	// not there, and never will be. It can be appended after the stranger's.
	ErrStranger = errors.New("the log has a message that is not its owner's")
	// ErrReplaced means that another owner of the log has deleted the message in the place. It is unknown whether that
	// was the message to be appended.
	ErrReplaced = errors.New("the log has another owner, who has trimmed it")
	// ErrDamaged means that something is missing or altered.
	ErrDamaged = errors.New("durable: the log is damaged")
	// ErrDenied means that this process may not write to the log. Whether the message is in the log is unknown.
	ErrDenied = errors.New("this process may not write to the log")
	// ErrSettings means that the log has settings that lose messages, or that make it unusable.
	ErrSettings = errors.New("settings that it must not have")
	// ErrTooLarge means that the message is larger than the log accepts. It was not appended.
	ErrTooLarge = errors.New("the message is larger than the log takes")
)

// Log is the log of one partition, as its owner sees it: a sequence of messages, numbered from 1 without gaps. A
// message is appended only if the log ends where the owner believes. The beginning of a log can be deleted. A Log does
// not know what its messages contain. Its methods may be called concurrently. An error that is not one of this package
// leaves the outcome unknown: the call may have succeeded, or may succeed later.
type Log interface {
	// Append appends data as message last+1, if last is the last message. If it returns nil, the message is in the log,
	// even after a loss of power. It keeps no reference to data.
	Append(ctx context.Context, last uint64, data []byte) error
	// Get returns message number, which belongs to the caller.
	Get(ctx context.Context, number uint64) ([]byte, error)
	// Read returns an iterator over the messages from from to to, in order. Each belongs to the caller. The error is
	// ErrAbsent if a message is not there. An error ends the iteration.
	Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error]
	// Bounds returns where the log begins and ends now. An empty log has First = Last + 1.
	Bounds(ctx context.Context) (Bounds, error)
	// Trim deletes the messages before begin. After a crash they may reappear.
	Trim(ctx context.Context, begin uint64) error
	// Mark returns the mark, which is not among the messages. The error is ErrAbsent if there is none, and ErrStranger
	// if somebody else has overwritten it.
	Mark(ctx context.Context) (Mark, error)
	// SetMark replaces the mark, unless the present one is as high already. If it returns nil, the mark survives a loss
	// of power.
	SetMark(ctx context.Context, m Mark) error
	// MaxMessage returns the size of the largest message that the log accepts.
	MaxMessage() int
}

// Bounds are the numbers of the first and the last message of a log, and how many bytes it may have at most, or 0.
type Bounds struct {
	First, Last uint64
	Most        int64
}

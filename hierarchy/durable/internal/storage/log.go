package storage

import (
	"context"
	"errors"
	"iter"
)

// The errors of a Log, besides ErrRefused and ErrAbsent. They are wrapped.
var (
	// ErrTaken: another message has the place in the log. The process that gets it is not the owner.
	ErrTaken = errors.New("the log has another owner")
	// ErrStranger: a message that is no frame of the log has the place. The message to be appended is not
	// there, and never will be. It can be appended after the stranger's.
	ErrStranger = errors.New("the log has a message that is not its owner's")
	// ErrReplaced: the log has another owner, who has deleted the place of the message. It is unknown whether the
	// message was there.
	ErrReplaced = errors.New("the log has another owner, who has trimmed it")
	// ErrDamaged: something is missing or altered.
	ErrDamaged = errors.New("durable: the log is damaged")
	// ErrDenied: this process may not write to the log. Nothing is known of the message.
	ErrDenied = errors.New("this process may not write to the log")
	// ErrSettings: the log has settings that lose messages, or with which it can't be used.
	ErrSettings = errors.New("settings that it must not have")
	// ErrTooLarge: the message is larger than the log takes. It was not appended.
	ErrTooLarge = errors.New("the message is larger than the log takes")
)

// Log is the log of one partition, as its owner sees it: a sequence of messages, numbered from 1 without gaps, to which a
// message is appended only if the log ends where the owner believes, and whose beginning can be deleted. What is in a
// message, a log does not know. Its methods may be called concurrently. An error that is not
// one of this package means that nothing is known: the call may have been done, or be done later.
type Log interface {
	// Append appends data as message last+1, if last is the last message. If it returns nil, the
	// message is there, and stays when the machine loses its power. It keeps no reference to data.
	Append(ctx context.Context, last uint64, data []byte) error
	// Get returns message number, which belongs to the caller.
	Get(ctx context.Context, number uint64) ([]byte, error)
	// Read is an iterator over the messages from from to to, in order. Each belongs to the caller.
	// The error is ErrAbsent if one is not there. After an error nothing comes.
	Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error]
	// Bounds returns where the log begins and ends now. An empty log has First = Last + 1.
	Bounds(ctx context.Context) (Bounds, error)
	// Trim deletes the messages before begin. They may come back in a crash.
	Trim(ctx context.Context, begin uint64) error
	// Mark returns the mark, which is kept apart from the messages, or ErrAbsent, or ErrStranger if somebody else has
	// written over it.
	Mark(ctx context.Context) (Mark, error)
	// SetMark replaces the mark, unless that is as high already. If it returns nil, the mark stays when the machine loses its
	// power.
	SetMark(ctx context.Context, m Mark) error
	// MaxMessage is the size of the largest message that the log takes.
	MaxMessage() int
}

// Bounds are the numbers of the first and the last message of a log, and how many bytes it may have at most, or 0.
type Bounds struct {
	First, Last uint64
	Most        int64
}

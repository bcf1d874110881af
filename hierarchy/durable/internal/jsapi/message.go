package jsapi

import "context"

// Message is a message as the leader of a stream has it.
type Message struct {
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

// Get asks the leader of a stream for one message. A replica that is behind does not have all.
func Get(ctx context.Context, nc Conn, stream string, sequence uint64) (Message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Sequence uint64 `json:"seq"`
	}{sequence})
}

// Last asks the leader of a stream for the last message of a subject.
func Last(ctx context.Context, nc Conn, stream, subject string) (Message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Subject string `json:"last_by_subj"`
	}{subject})
}

// First asks the leader of a stream for the first message of a subject.
func First(ctx context.Context, nc Conn, stream, subject string) (Message, error) {
	return ofLeader(ctx, nc, stream, struct {
		Sequence uint64 `json:"seq"`
		Subject  string `json:"next_by_subj"`
	}{1, subject})
}

func ofLeader(ctx context.Context, nc Conn, stream string, request any) (Message, error) {
	var answer struct {
		Message Message `json:"message"`
	}
	err := Ask(ctx, nc, "STREAM.MSG.GET."+stream, request, &answer)
	return answer.Message, err
}

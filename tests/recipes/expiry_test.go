package recipes

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// sessions expire when they are not used for half an hour.
type sessions struct {
	users *hierarchy.Keyed[string, string] // by token
}

const sessionTimeout = 30 * time.Minute

func newSessions(c clock.Clock, onExpire func(token, user string)) (*sessions, error) {
	users, err := hierarchy.NewKeyed(hierarchy.Config{Clock: c}, onExpire)
	if err != nil {
		return nil, err
	}
	return &sessions{users}, nil
}

func (s *sessions) login(token, user string) error {
	return s.users.Set(token, user, sessionTimeout)
}

func (s *sessions) logout(token string) { s.users.Remove(token) }

// use returns the user of a session and extends the session.
func (s *sessions) use(token string) (user string, ok bool) {
	if user, ok = s.users.Value(token); ok {
		_, _ = s.users.Move(token, sessionTimeout)
	}
	return user, ok
}

func Example_keyExpiry() {
	m := clock.NewMock()
	s, err := newSessions(m, func(token, user string) { fmt.Println(user, "forgotten after", m.Elapsed()) })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.users.Stop()
	_ = s.login("t1", "ann")
	_ = s.login("t2", "bob")
	_ = s.login("t3", "cid")
	m.Add(20 * time.Minute)
	fmt.Println(s.use("t1"))
	s.logout("t2")
	m.Add(time.Hour)
	fmt.Println(s.use("t1"))
	// Output:
	// ann true
	// cid forgotten after 30m0s
	// ann forgotten after 50m0s
	//  false
}

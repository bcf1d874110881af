package contender

import (
	"time"

	russellluo "github.com/RussellLuo/timingwheel"
	antlabs "github.com/antlabs/timer"
	ouqiang "github.com/ouqiang/timewheel"
	rfyiamcool "github.com/rfyiamcool/go-timewheel"
)

// russellLuo is github.com/RussellLuo/timingwheel, with the tick and the number of slots
// of its own examples. Its timers can't be reset.
type russellLuo struct {
	*russellluo.TimingWheel
	kept []*russellluo.Timer
}

func openRussellLuo(c Config) (Timers, error) {
	const slots = 20
	w := russellluo.NewTimingWheel(time.Millisecond, slots)
	w.Start()
	return &russellLuo{w, make([]*russellluo.Timer, c.Kept)}, nil
}

func (r *russellLuo) Set(i int, d time.Duration, f func()) error {
	t := r.AfterFunc(d, f)
	if i < len(r.kept) {
		r.kept[i] = t
	}
	return nil
}

func (r *russellLuo) Stop(i int) bool { return r.kept[i].Stop() }
func (r *russellLuo) Close()          { r.TimingWheel.Stop() }

// fromAntlabs is github.com/antlabs/timer: a wheel, or a heap.
type fromAntlabs struct {
	antlabs.Timer
	kept []antlabs.TimeNoder
}

func openAntlabsWheel(c Config) (Timers, error) { return openAntlabs(c, antlabs.WithTimeWheel()) }
func openAntlabsHeap(c Config) (Timers, error)  { return openAntlabs(c, antlabs.WithMinHeap()) }

func openAntlabs(c Config, kind antlabs.Option) (Timers, error) {
	w := antlabs.NewTimer(kind)
	go w.Run()
	time.Sleep(10 * time.Millisecond) // while Run starts, it races with other calls
	return &fromAntlabs{w, make([]antlabs.TimeNoder, c.Kept)}, nil
}

func (a *fromAntlabs) Set(i int, d time.Duration, f func()) error {
	t := a.AfterFunc(d, f)
	if i < len(a.kept) {
		a.kept[i] = t
	}
	return nil
}

func (a *fromAntlabs) Stop(i int) bool                   { return a.kept[i].Stop() }
func (a *fromAntlabs) Reset(i int, d time.Duration) bool { return a.kept[i].Reset(d) }
func (a *fromAntlabs) Close()                            { a.Timer.Stop() }

// fromRfyiamcool is github.com/rfyiamcool/go-timewheel.
type fromRfyiamcool struct {
	*rfyiamcool.TimeWheel
	kept []*rfyiamcool.Timer
}

func openRfyiamcool(c Config) (Timers, error) {
	w, err := rfyiamcool.NewTimeWheel(c.ring())
	if err != nil {
		return nil, err
	}
	w.Start()
	return &fromRfyiamcool{w, make([]*rfyiamcool.Timer, c.Kept)}, nil
}

func (r *fromRfyiamcool) Set(i int, d time.Duration, f func()) error {
	if i >= len(r.kept) {
		r.Add(d, f)
		return nil
	}
	r.kept[i] = r.AfterFunc(d, f)
	return nil
}

func (r *fromRfyiamcool) Stop(i int) bool {
	r.kept[i].Stop()
	return true
}

func (r *fromRfyiamcool) Reset(i int, d time.Duration) bool {
	r.kept[i].Reset(d)
	return true
}

func (r *fromRfyiamcool) Close() { r.TimeWheel.Stop() }

// fromOuqiang is github.com/ouqiang/timewheel. Its interval is in whole seconds. Timers
// can be set and removed, but not reset.
type fromOuqiang struct {
	*ouqiang.TimeWheel
	keys []any
}

func openOuqiang(c Config) (Timers, error) {
	_, slots := c.ring()
	w := ouqiang.New(time.Second, slots, func(f any) { f.(func())() })
	w.Start()
	return &fromOuqiang{w, numbers(c.Timers)}, nil
}

func (o *fromOuqiang) Set(i int, d time.Duration, f func()) error {
	o.AddTimer(d, o.keys[i], f)
	return nil
}

func (o *fromOuqiang) Stop(i int) bool {
	o.RemoveTimer(o.keys[i])
	return true
}

func (o *fromOuqiang) SetKey(key any, d time.Duration, f func()) error {
	o.AddTimer(d, key, f)
	return nil
}

func (o *fromOuqiang) Close() { o.TimeWheel.Stop() }

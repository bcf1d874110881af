package partition

// smaller is for a frame that was not appended, as the log takes less than it did when its calls began. It
// ends those that are too large by themselves, and returns the others, to be written in smaller frames, with
// the rest. What trimming had put into the frame is to be written again, too. It is false if that does not help.
func (p *Partition) smaller(w *written, rest []item) (again []item, ok bool) {
	p.trims.restore(w.portion, w.whole)
	for _, c := range w.calls {
		if err := p.checkSize(c); err != nil {
			c.answer(err)
			ok = true
			continue
		}
		again = append(again, item{kind: asked, call: c})
	}
	for i := range w.items {
		again = append(again, w.items[i].item)
	}
	if ok = ok || p.draft.Len() > 1 && p.draft.Size() > p.cfg.Log.MaxMessage(); !ok {
		return rest, false
	}
	if w.last {
		again = append(again, item{kind: closed})
		w.last = false
	}
	return append(again, rest...), true
}

package frame

import (
	"encoding/binary"
	"math"
)

// coder writes operations, or reads them. Each of its methods does both, so that the two can't differ. Reading also
// checks; after a failure all values are zero.
type coder struct {
	Reader
	header  *Header
	writing bool
	out     []byte
}

// moreBit, in the byte of a kind, means that fields follow that most operations don't have (see More).
const moreBit = 1 << 7

// op codes the operation at that place of the frame.
func (c *coder) op(op *Op, place int) {
	kind := byte(op.Kind)
	if op.hasMore() {
		kind |= moreBit
	}
	c.byte(&kind)
	more := kind&moreBit != 0
	op.Kind = Kind(kind &^ moreBit)
	if !op.Kind.isKnown() {
		c.Fail()
		return
	}
	if !c.writing && (op.Kind.Renews() || op.Kind == Request) {
		op.ID, op.Wall = c.header.NewID(place), op.Kind == SetAt || op.Kind == MoveAt || op.Kind == Next
	}
	c.fields(op)
	if more {
		c.more(op)
		if !c.writing && op.Kind == Resume {
			op.ID, op.Wall = c.header.NewID(place), true
		}
	} else if op.hasMore() { // a dead timer has the time of its failure
		c.Fail()
	}
}

// fields codes the fields that all operations of a kind have.
func (c *coder) fields(op *Op) {
	switch op.Kind {
	case Set, SetAt:
		c.time(&op.Due)
		c.bytes(&op.Key)
		c.bytes(&op.Value)
		return
	case Takeover:
		c.bytes(&op.Text)
		return
	case Close:
		return
	case Request:
		c.request(op)
		return
	case Keep, Import:
		c.whole(op)
		return
	case Move, MoveAt:
		c.time(&op.Due)
	case Remove, Pause, Resume:
	case End, Start, Expire:
		c.number(&op.ID.Number)
	case Revive:
		c.number(&op.ID.Number)
		c.time(&op.Due)
	case Begin, Die:
		c.uint32(&op.Attempt)
		c.number(&op.ID.Number)
	case Fail:
		c.uint32(&op.Attempt)
		c.number(&op.ID.Number)
		c.time(&op.Next)
	case Next:
		c.how(op)
		c.number(&op.Ended)
		c.time(&op.Due)
	}
	c.bytes(&op.Key)
}

const (
	keepState = 0x0f // the bits of the state
	keepWall  = 0x10
)

func (c *coder) whole(op *Op) {
	flags := byte(op.State)
	if op.Wall {
		flags |= keepWall
	}
	c.byte(&flags)
	op.State, op.Wall = State(flags&keepState), flags&keepWall != 0
	if op.State >= states || flags&^(keepState|keepWall) != 0 {
		c.Fail()
	}
	c.fixed(&op.ID.Owner)
	c.number(&op.ID.Number)
	c.time(&op.Due)
	c.uint32(&op.Attempt)
	if op.Attempt > 0 || op.State == Postponed {
		c.time(&op.Next)
	}
	if op.State == Left {
		c.name(op)
	}
	c.bytes(&op.Key)
	c.bytes(&op.Value)
}

// name codes the name of an attempt that was left.
func (c *coder) name(op *Op) {
	if c.fixed(&op.Name); op.Name == 0 {
		c.Fail()
	}
}

func (c *coder) request(op *Op) {
	above := op.Serial - op.Floor
	c.fixed(&op.Caller)
	c.uvarint(&op.Serial)
	c.uvarint(&above)
	if above > op.Serial {
		c.Fail()
	}
	op.Floor = op.Serial - above
	c.time(&op.When)
	c.bytes(&op.Answers)
}

func (c *coder) how(op *Op) {
	how := byte(op.How)
	c.byte(&how)
	if op.How = How(how); op.How >= hows {
		c.Fail()
	}
}

// time codes a time as its distance from the frame's. If the subtraction overflows in writing, the addition does in
// reading, so the result is right.
func (c *coder) time(t *int64) {
	if c.writing {
		c.out = binary.AppendVarint(c.out, *t-c.header.Time)
		return
	}
	*t = c.header.Time + c.Varint()
}

// number codes the number of an ID as its distance from the next frame's, so that the numbers of timers that were set a
// short time ago are short. With the ID of another log, the distance wraps around.
func (c *coder) number(number *uint64) {
	next := (c.header.Number + 1) << placeBits
	age := next - *number
	c.uvarint(&age)
	*number = next - age
}

func (c *coder) uint32(v *uint32) {
	wide := uint64(*v)
	c.uvarint(&wide)
	if *v = uint32(wide); wide > math.MaxUint32 {
		c.Fail()
	}
}

func (c *coder) byte(v *byte) {
	if c.writing {
		c.out = append(c.out, *v)
		return
	}
	*v = c.Byte()
}

func (c *coder) fixed(v *uint64) {
	if c.writing {
		c.out = binary.LittleEndian.AppendUint64(c.out, *v)
		return
	}
	*v = c.Fixed()
}

func (c *coder) uvarint(v *uint64) {
	if c.writing {
		c.out = binary.AppendUvarint(c.out, *v)
		return
	}
	*v = c.Uvarint()
}

func (c *coder) bytes(b *[]byte) {
	if c.writing {
		c.out = AppendBytes(c.out, *b)
		return
	}
	*b = c.Bytes()
}

// some codes a byte string that must not be empty.
func (c *coder) some(b *[]byte) {
	if c.bytes(b); len(*b) == 0 {
		c.Fail()
	}
}

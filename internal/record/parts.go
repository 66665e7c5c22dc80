package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// WriteParts writes the log anew, of a run that goes on.
func WriteParts(w io.Writer, r *Record) error {
	if err := AppendPart(w, r, nil); err != nil {
		return err
	}
	for i := range r.Rounds {
		for j := range r.Rounds[i].Passes {
			if err := AppendPart(w, r, &r.Rounds[i].Passes[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// A part is a line of the log of a run that is not over: everything but the
// passes as it is then, and the pass that was measured last. A run of hours is
// written once this way and not as often as it has passes.
type part struct {
	// Head has rounds without passes, for what is said of them.
	Head *Record `json:"head"`
	Pass *Pass   `json:"pass,omitempty"`
}

// AppendPart adds to the log of a run what has become of it, and the pass that is
// the last of its rounds, nil where there is no new one, as one line. DecodeParts
// reads the log.
func AppendPart(w io.Writer, r *Record, p *Pass) error {
	head := *r
	head.Rounds = slices.Clone(r.Rounds)
	for i := range head.Rounds {
		head.Rounds[i].Passes = nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(part{&head, p}); err != nil {
		return fmt.Errorf("write a part of the record: %w", err)
	}
	// One write, so that a line is torn only where the machine stops in it.
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write a part of the record: %w", err)
	}
	return nil
}

// DecodeParts puts the record of a run that is not over together from its log. A
// last line that was not written to its end does not count. A record of a later
// schema is refused, and so is a log that fits no run.
func DecodeParts(r io.Reader) (*Record, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the parts of a record: %w", err)
	}
	var rec *Record
	var rounds []Round
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			break
		}
		b = rest
		var p part
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read the parts of a record: line %d: %w", n, explain(line, err))
		}
		switch {
		case p.Head == nil:
			return nil, fmt.Errorf("read the parts of a record: line %d is none", n)
		case p.Head.SchemaVersion != SchemaVersion:
			return nil, fmt.Errorf("read the parts of a record: line %d has schema version %d and this nativ reads %d", n, p.Head.SchemaVersion, SchemaVersion)
		}
		// What a later head says of earlier passes holds: their steps stay where they
		// are.
		said := p.Head.Rounds
		rec, p.Head.Rounds = p.Head, rounds
		if p.Pass != nil {
			if i := p.Pass.Index; i < 0 || i >= len(rec.Plan.Steps) {
				return nil, fmt.Errorf("read the parts of a record: line %d: the plan has no step %d", n, i)
			}
			rec.Keep(*p.Pass)
		}
		for i := range rec.Rounds {
			if i < len(said) {
				rec.Rounds[i].Void = said[i].Void
			}
		}
		rounds = rec.Rounds
	}
	if rec == nil {
		return nil, errors.New("read the parts of a record: there is not one whole line")
	}
	if err := rec.check(); err != nil {
		return nil, fmt.Errorf("read the parts of a record: %w", err)
	}
	return rec, nil
}

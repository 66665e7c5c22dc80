package bench

import (
	"slices"

	"nativ/internal/record"
)

// A Trouble is what happened around the passes that ends a run: a controller was
// reset, or else the target is full, read-only or gone. Detail says which, in
// English.
type Trouble struct {
	Reset  bool
	Detail string
}

// lostErrnos are the errors after which no later pass can come to more: the file
// system is full (a thin pool below it, too), over its quota or read-only, or the
// device is gone. EIO is not among them: a bad block is no lost drive, and
// Run.Trouble tells the two apart.
var lostErrnos = []string{"ENOSPC", "EDQUOT", "EROFS", "ENODEV", "ENXIO", "ESHUTDOWN", "ESTALE"}

// troubled looks at what lies around the passes for a reason to stop.
func (r *Run) troubled() *halt {
	if r.Trouble == nil {
		return nil
	}
	switch t := r.Trouble(); {
	case t == nil:
		return nil
	case t.Reset:
		return &halt{record.EndReset, t.Detail}
	default:
		return &halt{record.EndTarget, t.Detail}
	}
}

// lost says why a pass that has just ended must be the last one, nil where the
// next may come.
func (r *Run) lost(out *record.Outcome) *halt {
	if out != nil {
		for _, e := range out.Errors {
			if slices.Contains(lostErrnos, e.Errno) {
				return &halt{record.EndTarget, e.Op + " " + e.Errno}
			}
		}
	}
	return r.troubled()
}

package rating

import (
	"slices"

	"nativ/internal/record"
)

const (
	// askShare and askBytes are what a run may write without anybody being asked
	// for it on its own: a thousandth of the endurance, or a terabyte where the
	// maker's figure is not known.
	askShare = 0.001
	askBytes = 1e12
)

// A Wear is what writing so many bytes takes from a target's drives.
type Wear struct {
	Bytes int64
	// Share of the rated endurance, TBW that in 10^12 bytes, and Name whose it is;
	// nil, 0 and "" where no figure of the maker's is known. With several drives
	// they are of the one that has the least, as if all bytes went there.
	Share *float64
	TBW   float64
	Name  string
}

// WearOf is what bytes take from the drives of a target; false where there is no
// flash to wear: memory, disks that turn, a server.
func WearOf(t *record.Target, bytes int64) (Wear, bool) {
	w := Wear{Bytes: bytes}
	flash := slices.DeleteFunc(slices.Clone(t.Drives), func(d record.Drive) bool {
		return d.Transport == "memory" || d.Rotational != nil && *d.Rotational
	})
	if t.Network || len(flash) == 0 || bytes <= 0 {
		return w, false
	}
	for i := range flash {
		r, ok := OfDrive(&flash[i])
		if !ok || r.TBW == nil || w.TBW > 0 && *r.TBW >= w.TBW {
			continue
		}
		w.TBW, w.Name = *r.TBW, r.Name
		w.Share = new(float64(bytes) / (*r.TBW * 1e12))
	}
	return w, true
}

// Ask reports whether it is so much that it wants a yes of its own.
func (w Wear) Ask() bool {
	return w.Bytes > askBytes || w.Share != nil && *w.Share > askShare
}

package target

import (
	"fmt"
	"math"

	"nativ/internal/record"
)

// poolRoom is how large a file may be so that every thin pool under the target
// keeps keepPool percent free, if each of its chunks is new to the pool: that
// another file lay there before does not help where its space was not given back.
// It is unlimited where there is none, or nobody may ask. What is broken, or has
// too little room for its own tables, is a *Refusal.
func poolRoom(t *record.Target, least int64) (room int64, no error) {
	room = math.MaxInt64
	if t.Storage == nil {
		return room, nil
	}
	for i := range t.Storage.Pools {
		p := &t.Storage.Pools[i]
		switch {
		case p.State != "" && p.State != "rw",
			p.MetadataUsed != nil && p.MetadataBytes != nil && *p.MetadataUsed > *p.MetadataBytes/100*(100-keepPool):
			return 0, &Refusal{Code: RefusePool, Dir: t.Dir, Pool: p, NeedBytes: least}
		}
		if p.DataUsed != nil && p.DataBytes != nil {
			room = min(room, *p.DataBytes-*p.DataBytes/100*keepPool-*p.DataUsed)
		}
	}
	return room, nil
}

// poolTooFull is the refusal for the fullest pool under the target.
func poolTooFull(t *record.Target, need int64) *Refusal {
	r := &Refusal{Code: RefusePool, Dir: t.Dir, NeedBytes: need}
	var most int64 = math.MaxInt64
	for i := range t.Storage.Pools {
		p := &t.Storage.Pools[i]
		if p.DataUsed == nil || p.DataBytes == nil {
			continue
		}
		if free := *p.DataBytes - *p.DataUsed; free < most {
			most = free
			r.Pool, r.FreeBytes, r.TotalBytes, r.KeepBytes = p, free, *p.DataBytes, *p.DataBytes/100*keepPool
		}
	}
	return r
}

func (r *Refusal) poolReason() string {
	p := r.Pool
	where := fmt.Sprintf("measure %s: it lies in thin pool %s, ", r.Dir, p.Name)
	switch {
	case p.State != "" && p.State != "rw":
		return where + fmt.Sprintf("which is in state %s and takes no writes", p.State)
	case r.TotalBytes == 0:
		return where + fmt.Sprintf("whose tables are full to %.0f %%", 100*float64(*p.MetadataUsed)/float64(*p.MetadataBytes))
	}
	return where + fmt.Sprintf("of which %.0f %% are taken: a file of %s leaves less than %d %% free, and a full pool stops everything on it",
		100*float64(*p.DataUsed)/float64(*p.DataBytes), fileSize(r.NeedBytes), keepPool)
}

func (r *Refusal) poolNext() string {
	p := r.Pool
	switch {
	case p.State != "" && p.State != "rw":
		return "look at it with lvs -a and dmsetup status, and extend it with lvextend if it is full"
	case r.TotalBytes == 0:
		return "extend them: lvextend --poolmetadatasize +1G on the pool"
	}
	return "give space back (fstrim -av, or pct fstrim and discard in guests), extend it (lvextend), or give a smaller --size"
}

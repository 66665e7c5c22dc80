package target

import (
	"fmt"
	"time"
)

// A Holder is a run that uses a drive.
type Holder struct {
	PID     int       `json:"pid"`
	UID     int       `json:"uid"`
	RunID   string    `json:"run_id"`
	Dir     string    `json:"dir"`
	Started time.Time `json:"started"`
}

// A Busy says that another run uses the drive. Two at once would measure
// each other.
type Busy struct {
	// Key is that of the drive, from DriveKeys.
	Key string
	// Holder is what the other run said of itself. Where it said nothing,
	// only PID and UID are known, from the kernel, or not even these (0).
	Holder Holder
}

// Error names the other run.
func (e *Busy) Error() string {
	h := e.Holder
	switch {
	case h.PID == 0:
		return fmt.Sprintf("lock drive %s: another run uses it; wait until it has ended", e.Key)
	case h.RunID == "":
		return fmt.Sprintf("lock drive %s: process %d of uid %d uses it; wait until it has ended", e.Key, h.PID, h.UID)
	}
	return fmt.Sprintf("lock drive %s: run %s uses it (process %d of uid %d, in %s, since %s); wait until it has ended",
		e.Key, h.RunID, h.PID, h.UID, h.Dir, h.Started.Local().Format(time.TimeOnly))
}

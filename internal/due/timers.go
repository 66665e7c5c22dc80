package due

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A timer is one of systemd's that does something to drives.
type timer struct {
	unit, kind string
	next       time.Time
}

// parseTimers reads what systemctl list-timers --output=json prints: an array of
// units, each with when it elapses next in microseconds since 1970, or null.
func parseTimers(r io.Reader) ([]timer, error) {
	var list []struct {
		Next *uint64 `json:"next"`
		Unit string  `json:"unit"`
	}
	if err := json.NewDecoder(io.LimitReader(r, 4<<20)).Decode(&list); err != nil {
		return nil, fmt.Errorf("understand the list of timers: %w", err)
	}
	var all []timer
	for _, t := range list {
		if kind := kindOf(t.Unit); kind != "" && t.Next != nil && *t.Next > 0 && *t.Next < 1<<62 {
			all = append(all, timer{t.Unit, kind, time.UnixMicro(int64(*t.Next))})
		}
	}
	return all, nil
}

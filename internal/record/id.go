package record

import (
	"fmt"
	"time"
)

// NewID makes the ID of a run that started at t: "20261130-215901-ab12". The
// time is in UTC, so that IDs sort as they were made also across the change to
// winter time; random tells runs of the same second apart.
func NewID(t time.Time, random uint16) string {
	return fmt.Sprintf("%s-%04x", t.UTC().Format("20060102-150405"), random)
}

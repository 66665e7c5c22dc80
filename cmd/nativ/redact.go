package main

import (
	"fmt"

	"nativ/internal/record"
	"nativ/internal/report"
)

// forOthers is a record as it may leave this machine, and the hash of the whole one,
// by which its owner finds it again. The record in the state directory stays whole.
func forOthers(rec *record.Record) (redacted *record.Record, hash string, err error) {
	if hash, err = report.RecordHash(rec); err != nil {
		return nil, "", fmt.Errorf("hash the record: %w", err)
	}
	return record.Redact(rec), hash, nil
}

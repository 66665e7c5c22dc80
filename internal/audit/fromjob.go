package audit

import (
	"fmt"
	"strings"

	"nativ/internal/job"
)

// FromJob reads a job file of fio's, which says how something is to be measured.
func FromJob(file string, f *job.File) *Subject {
	s := &Subject{File: file, Kind: KindJob}
	side := Side{Name: file}
	for i := range f.Jobs {
		j := &f.Jobs[i]
		row := Row{Where: fmt.Sprintf("[%s]", j.Name), Name: j.Name, Mode: j.RW, BS: j.ReadBS, Dir: dirOf(j.RW), Set: settingsOf(j)}
		if j.RW.Writes() && !j.RW.Mixed() {
			row.BS = j.WriteBS
		}
		row.Set.All = true
		for _, o := range []string{"direct", "buffered"} {
			if _, told := j.Set(o); told {
				row.Set.DirectTold = true
			}
		}
		row.Set.Size = j.Size.Bytes
		row.Set.raw(j)
		side.Rows = append(side.Rows, row)
	}
	s.Sides = []Side{side}
	return s
}

// raw takes what is only in the options that nativ passes on to fio.
func (s *Settings) raw(j *job.Job) {
	for _, r := range j.Raw {
		name, value, _ := strings.Cut(r, "=")
		switch strings.TrimSpace(name) {
		case "dedupe_percentage":
			_, _ = fmt.Sscanf(value, "%d", &s.Dedupe)
		case "buffer_pattern":
			s.Pattern = true
		case "rate", "rate_process":
			s.RateLimited = true
		}
	}
}

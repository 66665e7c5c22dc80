package report

import (
	"fmt"
	"strings"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A Live is the state of a run at one moment. What is not known is nil.
type Live struct {
	Phase *job.Phase // with job.Prefill's name while the file is written
	Place string     // empty while the file is written
	// Pass counts from 1 to Passes; 0 while the file is written.
	Pass, Passes  int
	Left          time.Duration
	IOPS          *float64
	BytesPerSec   *float64
	P99NS         *int64
	TemperatureMC *int64 // millidegrees Celsius
	// Waiting says what is waited for; see Waiting. Empty while something runs.
	Waiting string
}

// LiveLine words l on one line of at most width columns, to be written over
// again and again; fields that do not fit are left out, the least important
// first. With width <= 0 nothing is left out: a line of a log. Of rec it needs
// Plan; nil is allowed.
func LiveLine(rec *record.Record, l Live, lang string, width int) string {
	s := newSpeaker(lang, rec)
	const always = 99
	type field struct {
		text string
		rank int // the lowest is left out first
	}
	var fields []field
	add := func(rank int, text string) {
		if text != "" {
			fields = append(fields, field{text, rank})
		}
	}
	if rec != nil && rec.Simulated != nil {
		add(always, s.simulation.mark)
	}
	if l.Passes > 0 && l.Pass > 0 {
		add(1, fmt.Sprintf("%d/%d", l.Pass, l.Passes))
	}
	random := true
	if l.Phase != nil {
		random = inIOPS(l.Phase)
		add(always, s.phaseName(l.Phase))
	}
	if l.Place != "" {
		place := s.data(l.Place)
		if rec != nil {
			place = s.shortPlace(rec, l.Place)
		} else if name := s.place[l.Place]; name != "" {
			place = name
		}
		add(always, place)
	}
	if l.Waiting != "" {
		add(always, l.Waiting)
		add(3, fmt.Sprintf(s.left, clock(l.Left)))
	} else {
		add(always, fmt.Sprintf(s.left, clock(l.Left)))
	}
	iops, mbs := 6, 2
	if !random {
		iops, mbs = 2, 6
	}
	if l.IOPS != nil {
		add(iops, unit(s.short(*l.IOPS), "IOPS"))
	}
	if l.BytesPerSec != nil {
		add(mbs, unit(s.short(*l.BytesPerSec/1e6), "MB/s"))
	}
	if l.P99NS != nil {
		add(4, "p99"+glue+s.duration(float64(*l.P99NS)))
	}
	if l.TemperatureMC != nil {
		add(5, unit(s.celsius(*l.TemperatureMC), "°C"))
	}
	for {
		var texts []string
		least := -1
		for i, f := range fields {
			texts = append(texts, f.text)
			if f.rank < always && (least < 0 || f.rank < fields[least].rank) {
				least = i
			}
		}
		line := strings.ReplaceAll(strings.Join(texts, "  "), glue, " ")
		if width <= 0 || length(line) <= width {
			return line
		}
		if least < 0 {
			return string([]rune(line)[:width])
		}
		fields = append(fields[:least], fields[least+1:]...)
	}
}

package due

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An entry is a line of a system crontab that does something to drives.
type entry struct {
	kind, command string
	at            calendar
}

// Debian's crontabs run weekly in a part of the month, because crontab(5) takes
// day and weekday for an "or", and leave the other half to the command.
var (
	onWeekday = regexp.MustCompile(`date \+\\?%w\)"? -eq ([0-6])`)
	untilDay  = regexp.MustCompile(`date \+\\?%d\)"? -le ([0-9]{1,2})`)
)

// parseCrontab reads a system crontab (crontab(5), with a user): the lines whose
// command is known to work on drives. A line that cannot be understood is an
// error only if it is one of those.
func parseCrontab(r io.Reader) ([]entry, error) {
	var all []entry
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		kind := kindOf(line)
		f := strings.Fields(line)
		if line == "" || line[0] == '#' || kind == "" || len(f) < 6 || strings.Contains(f[0], "=") {
			continue
		}
		// With systemd a timer does it, and this line nothing.
		if strings.Contains(line, "! -e /run/systemd/system") || strings.Contains(line, "-e /run/systemd/system ||") || strings.Contains(line, "-d /run/systemd/system ||") {
			continue
		}
		e := entry{kind: kind, command: strings.Join(f[6:], " ")}
		for i, p := range []struct {
			set       *[]int
			low, high int
		}{{&e.at.minutes, 0, 59}, {&e.at.hours, 0, 23}, {&e.at.days, 1, 31}, {&e.at.months, 1, 12}, {&e.at.weekdays, 0, 7}} {
			var err error
			if *p.set, err = setOf(f[i], p.low, p.high, "-"); err != nil {
				return all, fmt.Errorf("line %q: %w", line, err)
			}
		}
		for i, d := range e.at.weekdays {
			e.at.weekdays[i] = d % 7 // 7 is Sunday, too
		}
		if m := onWeekday.FindStringSubmatch(line); m != nil {
			d, _ := strconv.Atoi(m[1])
			e.at.weekdays = []int{d}
		}
		if m := untilDay.FindStringSubmatch(line); m != nil {
			last, _ := strconv.Atoi(m[1])
			e.at.days = nil
			for d := 1; d <= last; d++ {
				e.at.days = append(e.at.days, d)
			}
		}
		all = append(all, e)
	}
	return all, sc.Err()
}

// kindOf is what a unit or a command does to drives, "" where that is nothing
// known.
func kindOf(name string) string {
	i := slices.IndexFunc(kinds, func(k struct{ part, kind string }) bool { return strings.Contains(name, k.part) })
	if i < 0 {
		return ""
	}
	return kinds[i].kind
}

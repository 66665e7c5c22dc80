package due

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A calendar says at which minutes something is due. A nil set is every value.
type calendar struct {
	weekdays                            []int // 0 is Sunday
	years, months, days, hours, minutes []int
}

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// aliases are the names that both Proxmox VE and systemd know.
var aliases = map[string]string{
	"minutely": "*:*", "hourly": "*:00", "daily": "00:00", "weekly": "mon 00:00", "monthly": "*-*-01 00:00",
	"quarterly": "*-01,04,07,10-01 00:00", "semiannually": "*-01,07-01 00:00", "semi-annually": "*-01,07-01 00:00",
	"yearly": "*-01-01 00:00", "annually": "*-01-01 00:00",
}

// parseCalendar reads a calendar event of Proxmox VE, a subset of systemd's:
// "[WEEKDAYS] [[YEARS-]MONTHS-DAYS] [HOURS:MINUTES[:SECONDS]]", in which each part
// is a list of values, ranges (1..5) and steps (0/15), "*" is any, and a time
// without a colon is minutes. Seconds are read over: nothing here is that exact.
func parseCalendar(event string) (*calendar, error) {
	event = strings.ToLower(strings.TrimSpace(event))
	if long, ok := aliases[event]; ok {
		event = long
	}
	fields := strings.Fields(event)
	if len(fields) == 0 || len(fields) > 3 {
		return nil, fmt.Errorf("calendar event %q has %d parts", event, len(fields))
	}
	c, timed, rank := new(calendar), false, 0
	for _, f := range fields {
		var err error
		now := 1
		switch {
		case f[0] >= 'a' && f[0] <= 'z':
			c.weekdays, err = weekdaysOf(f)
		case strings.Contains(f, ":") || !strings.Contains(f, "-"):
			now, timed = 3, true
			err = c.time(f)
		default:
			now = 2
			err = c.date(f)
		}
		if err == nil && now <= rank {
			err = errors.New("its parts are out of order")
		}
		if rank = now; err != nil {
			return nil, fmt.Errorf("calendar event %q: %w", event, err)
		}
	}
	if !timed {
		c.hours, c.minutes = []int{0}, []int{0}
	}
	return c, nil
}

func weekdaysOf(f string) ([]int, error) {
	var all []int
	number := func(name string) (int, error) {
		for i, d := range days {
			if name == d || len(name) > 3 && strings.HasPrefix(name, d) {
				return i, nil
			}
		}
		return 0, fmt.Errorf("%q is no day of the week", name)
	}
	for part := range strings.SplitSeq(f, ",") {
		low, high, ranged := strings.Cut(part, "..")
		if !ranged {
			low, high, ranged = strings.Cut(part, "-")
		}
		a, err := number(low)
		if err != nil {
			return nil, err
		}
		b := a
		if ranged {
			if b, err = number(high); err != nil {
				return nil, err
			}
		}
		for ; ; a = (a + 1) % 7 { // fri..mon goes around
			if all = append(all, a); a == b {
				break
			}
		}
	}
	return all, nil
}

func (c *calendar) time(f string) (err error) {
	parts := strings.Split(f, ":")
	if len(parts) > 3 {
		return fmt.Errorf("%q is no time", f)
	}
	if len(parts) == 1 { // minutes of every hour
		c.minutes, err = setOf(parts[0], 0, 59, "..")
		return err
	}
	if c.hours, err = setOf(parts[0], 0, 23, ".."); err != nil {
		return err
	}
	c.minutes, err = setOf(parts[1], 0, 59, "..")
	return err
}

func (c *calendar) date(f string) (err error) {
	parts := strings.Split(f, "-")
	if len(parts) > 3 {
		return fmt.Errorf("%q is no date", f)
	}
	if len(parts) == 3 {
		if c.years, err = setOf(parts[0], 1970, 2199, ".."); err != nil {
			return err
		}
		parts = parts[1:]
	}
	if c.months, err = setOf(parts[0], 1, 12, ".."); err != nil {
		return err
	}
	c.days, err = setOf(parts[1], 1, 31, "..")
	return err
}

// setOf reads a list of values from low to high: "*", "5", "1..5" (with the mark of
// a range), "0/15", "1..30/2"; nil is any.
func setOf(text string, low, high int, to string) ([]int, error) {
	if text == "*" {
		return nil, nil
	}
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		var err error
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return nil, fmt.Errorf("%q has a step that is none", part)
			}
		}
		a, b := low, high
		if span != "*" {
			first, last, ranged := strings.Cut(span, to)
			if a, err = strconv.Atoi(first); err != nil {
				return nil, fmt.Errorf("%q is no number", first)
			}
			switch {
			case ranged:
				if b, err = strconv.Atoi(last); err != nil {
					return nil, fmt.Errorf("%q is no number", last)
				}
			case !stepped:
				b = a
			}
		}
		if a < low || b > high || a > b {
			return nil, fmt.Errorf("%q is not within %d and %d", part, low, high)
		}
		for ; a <= b; a += step {
			all = append(all, a)
		}
	}
	return all, nil
}

// at reports whether it is due in the minute of t.
func (c *calendar) at(t time.Time) bool {
	has := func(set []int, v int) bool { return set == nil || slices.Contains(set, v) }
	return has(c.weekdays, int(t.Weekday())) && has(c.years, t.Year()) && has(c.months, int(t.Month())) &&
		has(c.days, t.Day()) && has(c.hours, t.Hour()) && has(c.minutes, t.Minute())
}

// longest is how far ahead is looked: no run is longer, and every minute is
// looked at.
const longest = 7 * 24 * time.Hour

// next is the first minute in the window of length d from from on in which it is
// due; false where there is none.
func (c *calendar) next(from time.Time, d time.Duration) (time.Time, bool) {
	for t := from.Truncate(time.Minute); t.Before(from.Add(min(d, longest))); t = t.Add(time.Minute) {
		if c.at(t) && !t.Add(time.Minute).Before(from) {
			return t, true
		}
	}
	return time.Time{}, false
}

package due

import (
	"strings"
	"testing"
	"time"
)

// monday is a Monday, 2026-11-30.
func at(day, hour, minute int) time.Time {
	return time.Date(2026, 11, 30+day, hour, minute, 0, 0, time.UTC)
}

// Events of Proxmox VE's documentation of calendar events, and others.
func TestCalendar(t *testing.T) {
	for _, tt := range []struct {
		event string
		from  time.Time
		next  time.Time // zero: not within a week
	}{
		{"sun 01:00", at(0, 10, 0), at(6, 1, 0)},
		{"mon,tue,wed,thu,fri 00:00", at(0, 10, 0), at(1, 0, 0)},
		{"mon..fri 18:30", at(0, 10, 0), at(0, 18, 30)},
		{"fri..mon 22:00", at(1, 10, 0), at(4, 22, 0)},
		{"*/5", at(0, 10, 1), at(0, 10, 5)},
		{"0/30", at(0, 10, 31), at(0, 11, 0)},
		{"8..17,22:0/15", at(0, 18, 1), at(0, 22, 0)},
		{"2:30", at(0, 10, 0), at(1, 2, 30)},
		{"21:00:00", at(0, 10, 0), at(0, 21, 0)},
		{"sat", at(0, 10, 0), at(5, 0, 0)},
		{"saturday 6:15", at(0, 10, 0), at(5, 6, 15)},
		{"daily", at(0, 10, 0), at(1, 0, 0)},
		{"hourly", at(0, 10, 1), at(0, 11, 0)},
		{"monthly", at(0, 10, 0), at(1, 0, 0)},
		{"yearly", at(0, 10, 0), time.Time{}},
		{"*-12-05 23:59", at(0, 10, 0), at(5, 23, 59)},
		{"2027-*-* 02:00", at(0, 10, 0), time.Time{}},
		{"sat *-1..7 15:00", at(0, 10, 0), at(5, 15, 0)}, // the first one of a month
	} {
		c, err := parseCalendar(tt.event)
		if err != nil {
			t.Errorf("%s: %v", tt.event, err)
			continue
		}
		got, ok := c.next(tt.from, 7*24*time.Hour)
		if ok == tt.next.IsZero() || ok && !got.Equal(tt.next) {
			t.Errorf("%s from %v: %v, %v", tt.event, tt.from, got, ok)
		}
	}
	for _, bad := range []string{"", "someday", "25:00", "10:00 mon", "1:2:3:4", "mon tue wed thu", "5..1:00", "*/0", "0:99", "mon..xyz"} {
		if _, err := parseCalendar(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// As Debian 13 has them in /etc/cron.d, and one of Proxmox VE's old form.
func TestCrontab(t *testing.T) {
	const text = `PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin
# TRIM the first Sunday of every month.
24 0 1-7 * * root if [ $(date +\%w) -eq 0 ] && [ -x /usr/lib/zfs-linux/trim ]; then /usr/lib/zfs-linux/trim; fi
24 0 8-14 * * root if [ $(date +\%w) -eq 0 ] && [ -x /usr/lib/zfs-linux/scrub ]; then /usr/lib/zfs-linux/scrub; fi
57 0 * * 0 root if [ -x /usr/share/mdadm/checkarray ] && [ $(date +\%d) -le 7 ]; then /usr/share/mdadm/checkarray --cron --all --idle --quiet; fi
30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/x86_64-linux-gnu/e2fsprogs/e2scrub_all_cron
17 *	* * *	root    cd / && run-parts --report /etc/cron.hourly
0 2 * * 6 root vzdump 100 101 --mode snapshot --quiet 1
`
	entries, err := parseCrontab(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		kind string
		next time.Time
	}{
		{KindTrim, at(6, 0, 24)}, // the 6th of December
		{KindScrub, at(13, 0, 24)},
		{KindCheck, at(6, 0, 57)},
		{KindBackup, at(5, 2, 0)},
	}
	if len(entries) != len(want) {
		t.Fatalf("got %+v", entries)
	}
	for i, w := range want {
		from := w.next.Add(-6 * 24 * time.Hour)
		if got, ok := entries[i].at.next(from, 7*24*time.Hour); !ok || entries[i].kind != w.kind || !got.Equal(w.next) {
			t.Errorf("%s: %v %v, want %s at %v", entries[i].kind, got, ok, w.kind, w.next)
		}
	}
	if _, err := parseCrontab(strings.NewReader("x 0 * * * root fstrim -a\n")); err == nil {
		t.Error("a trim at minute x is taken")
	}
}

// As systemd 257 prints them.
func TestTimers(t *testing.T) {
	const text = `[{"next":1796601600000000,"left":1796601600000000,"last":1795996800000000,"passed":0,"unit":"fstrim.timer","activates":"fstrim.service"},
{"next":1796000000000000,"left":0,"last":0,"passed":0,"unit":"apt-daily.timer","activates":"apt-daily.service"},
{"next":null,"left":null,"last":null,"passed":null,"unit":"e2scrub_all.timer","activates":"e2scrub_all.service"},
{"next":1796601700000000,"left":0,"last":0,"passed":0,"unit":"mdcheck_start.timer","activates":"mdcheck_start.service"}]`
	got, err := parseTimers(strings.NewReader(text))
	if err != nil || len(got) != 2 || got[0].kind != KindTrim || got[1].kind != KindCheck || !got[0].next.Equal(time.Unix(1796601600, 0)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseTimers(strings.NewReader("NEXT LEFT")); err == nil {
		t.Error("a table is taken for JSON")
	}
}

func FuzzDue(f *testing.F) {
	for _, s := range []string{"mon..fri 8..17,22:0/15", "57 0 * * 0 root checkarray", `[{"next":1,"unit":"fstrim.timer"}]`, "*-12-05 23:59"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := parseCalendar(s); err == nil {
			if got, ok := c.next(at(0, 0, 0), 24*time.Hour); ok && !within(got, at(0, 0, 0), 24*time.Hour) {
				t.Fatalf("%q is due at %v, out of the window", s, got)
			}
		}
		_, _ = parseCrontab(strings.NewReader(s))
		_, _ = parseTimers(strings.NewReader(s))
	})
}

package report

import (
	"regexp"
	"strings"

	"nativ/internal/record"
)

// reasons are the sentences with which the packages below say in a record why
// something is missing or failed, as patterns, and what they are in German. What
// stands behind them, after a colon or in brackets, is the system's own text and
// stays. "%1" and so on is what a group matched.
var reasons = func() []reason {
	var all []reason
	for _, r := range [][2]string{
		// sensor
		{`no sensor: no drive is known below (.+)`, `kein Sensor: Unter %1 ist kein Laufwerk bekannt`},
		{`no sensor: the kernel shows no device behind (\S+)`, `kein Sensor: Der Kernel zeigt kein Gerät hinter %1`},
		{`no sensor: (\S+) has no hwmon \((.+)\)`, `kein Sensor: %1 hat kein hwmon (%2)`},
		{`no sensor: the kernel shows none for (\S+)`, `kein Sensor: Der Kernel zeigt keinen für %1`},
		{`no drive is known below (.+)`, `unter %1 ist kein Laufwerk bekannt`},
		{`no place with a cgroup of its own was measured`, `kein Ort mit eigener cgroup wurde gemessen`},
		{`no CPU times: (.+)`, `keine CPU-Zeiten: %1`},
		{`no counters: (.+)`, `keine Zähler: %1`},
		{`counters are switched off \(queue/iostats is 0\); write 1 there to have them`, `die Zähler sind aus (queue/iostats ist 0); zum Einschalten 1 hineinschreiben`},
		{`it did not answer within (\S+)`, `keine Antwort innerhalb von %1`},
		{`read (temperature|health|device|link|aer|cpu|cpu-frequency|cpu-thermal|pressure|cgroup)( .*?)?: (.+)`, `nicht lesbar: %3`},
		{`no health log: (\S+) is closed to this user; run as root`, `kein Health-Log: %1 darf nur root lesen; als root starten`},
		{`no health log: there is no (\S+) here, as in a container; run as root on the host`, `kein Health-Log: Hier gibt es kein %1, wie in einem Container; als root auf dem Host starten`},
		{`no health log: the kernel wants CAP_SYS_ADMIN outside of any container; run as root on the host`, `kein Health-Log: Der Kernel verlangt CAP_SYS_ADMIN außerhalb jedes Containers; als root auf dem Host starten`},
		{`no sensor: the kernel shows none for (\S+); modprobe drivetemp may bring one, smartmontools is another way`, `kein Sensor: Der Kernel zeigt keinen für %1; vielleicht hilft modprobe drivetemp, sonst smartmontools`},
		{`no PCIe link: the kernel shows none at (\S+), as in a virtual machine`, `kein PCIe-Link: Der Kernel zeigt keinen bei %1, wie in einer virtuellen Maschine`},
		{`no PCIe error counters: (\S+) has none, or the firmware keeps them \(AER\)`, `keine PCIe-Fehlerzähler: %1 hat keine, oder die Firmware behält sie (AER)`},
		{`no CPU frequencies: the kernel has no cpufreq driver here, as in a virtual machine`, `keine CPU-Frequenzen: Der Kernel hat hier keinen cpufreq-Treiber, wie in einer virtuellen Maschine`},
		{`no CPU temperature and no throttle counters: the kernel shows none, as in a virtual machine`, `keine CPU-Temperatur und keine Drosselzähler: Der Kernel zeigt keine, wie in einer virtuellen Maschine`},
		{`no pressure: the kernel has no PSI, or it is off; boot with psi=1 to have it`, `kein Druck: Der Kernel hat kein PSI, oder es ist aus; mit psi=1 starten`},
		{`the kernel's log is closed to this user \((.+)\); run as root on the host`, `das Kernel-Log darf nur root lesen (%1); als root auf dem Host starten`},
		{`there is no (\S+) here, as in a container; run on the host`, `hier gibt es kein %1, wie in einem Container; auf dem Host starten`},
		{`the beginning of the kernel's log was overwritten before it was read; a larger log_buf_len keeps it`, `der Anfang des Kernel-Logs war schon überschrieben; ein größeres log_buf_len behält ihn`},
		{`(\d+) lines of the kernel's log were overwritten before they were read`, `%1 Zeilen des Kernel-Logs waren schon überschrieben`},
		// target
		{`no drive is known behind the directory`, `hinter dem Verzeichnis ist kein Laufwerk bekannt`},
		{`processes outside this container cannot be seen`, `Prozesse außerhalb dieses Containers sind nicht zu sehen`},
		{`files of other users' processes cannot be seen; run as root to see them`, `Dateien der Prozesse anderer Benutzer sind nur als root zu sehen`},
		{`files of some processes may not be read`, `die Dateien mancher Prozesse sind nicht zu lesen`},
		{`there are too many processes; stopped after (\S+)`, `zu viele Prozesse, Suche nach %1 beendet`},
		// worker and place
		{`the worker did not end within (\S+) after it was asked to`, `er endete nicht innerhalb von %1 nach der Aufforderung`},
		{`the worker did not end by its deadline, nor within (\S+) after it`, `er endete weder in der Frist noch innerhalb von %1 danach`},
		{`the engine did not come back within (\S+) after (.+)`, `die Engine kam innerhalb von %1 nicht zurück nach: %2`},
		{`still held by the kernel after it was killed`, `vom Kernel noch nach dem Beenden gehalten`},
		{`ended with exit code 0`, `beendet mit Exit-Code 0`},
		{`exit status (\d+)(.*)`, `Exit-Code %1%2`},
		{`signal: (.+)`, `Signal: %1`},
		{`(\w+): (\w+) at offset (\d+) \((\d+) times\)(.*)`, `%1: %2 bei Offset %3 (%4-mal)%5`},
		{`not in this kernel`, `nicht in diesem Kernel`},
		{`no space left on device`, `kein Platz mehr auf dem Gerät`},
		{`permission denied`, `keine Berechtigung`},
	} {
		all = append(all, reason{regexp.MustCompile(`^` + r[0] + `$`), r[1]})
	}
	return all
}()

type reason struct {
	english *regexp.Regexp
	german  string
}

// reason words why something is missing or failed, as a record has it.
func (s *speaker) reason(text string) string {
	text = s.data(text)
	if s.messages != &german {
		return text
	}
	for _, r := range reasons {
		m := r.english.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		out := r.german
		for i := len(m) - 1; i > 0; i-- {
			out = strings.ReplaceAll(out, "%"+string(rune('0'+i)), m[i])
		}
		return out
	}
	return text
}

// repeated is how details begin that only say their code again.
var repeated = map[string]*regexp.Regexp{
	record.FailContainer: regexp.MustCompile(`^the container (has ended|ended while the worker ran)`),
	record.FailWorker:    regexp.MustCompile(`^the worker ended without a result`),
	record.FailDeadline:  regexp.MustCompile(`^the pass was not over by the worker's deadline`),
}

var notBack = regexp.MustCompile(`^(\d+) I/Os did not come back$`)

// failure says why a pass failed, each thing once.
func (s *speaker) failure(code, detail string) string {
	why := s.fail[code]
	if why == "" {
		if why = s.data(code); why == "" {
			why = s.unknown
		}
	}
	detail = s.data(detail)
	if r := repeated[code]; r != nil {
		detail = strings.TrimSpace(r.ReplaceAllString(detail, ""))
		if strings.HasPrefix(detail, "(") && strings.HasSuffix(detail, ")") {
			detail = detail[1 : len(detail)-1]
		}
	}
	if m := notBack.FindStringSubmatch(detail); m != nil && code == record.FailStalled {
		detail = m[1]
	}
	if detail = s.reason(detail); detail == "" {
		return why
	}
	if strings.Contains(detail, "(") { // not brackets in brackets
		return why + ": " + detail
	}
	return why + " (" + detail + ")"
}

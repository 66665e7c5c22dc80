package report

import "nativ/internal/record"

// infoMessages are the texts of nativ info.
type infoMessages struct {
	title                                    string
	system, driveHead, targetHead, checkHead string
	missingHead                              string
	kept                                     string

	os, cpu, memory, board, kernel, cgroup, hypervisor string

	cores        map[string]string // by type: "%s P cores"
	core         map[string]string // one
	oneThread    string
	threads      string
	hz           string // "%s to %s"
	limitHz      string
	governor     string
	usable       string
	modules      string // "2 × 16 GiB DDR5"
	mixedModules string
	rated        string

	model, size, link, temperature, throttle, wear, power, errors, health string

	sector, scheduler, writeCache, noWriteCache, rotational string
	linkBoth, linkPort, linkUnknown                         string
	limits, warnAt, criticalAt                              string
	hctm, hctmOff                                           string
	tmt, noTMT, minutesOver, neverOver                      string
	used, spare, written, hours                             string
	state, states, apst, noAPST                             string
	mediaErrors, logEntries, shutdowns                      string
	alarm                                                   string
	alarms                                                  map[string]string

	filesystem, stack, fill, trim, lastTrim string
	fillText, fillFree                      string
	thin                                    string
	trimPassed, trimStopped, trimUnknown    string
	granularity, online, notOnline          string
	timerRan, timerOther, timerUnsure       string
	timerNever, byHand, continuous          string
	ago                                     string
	days, hoursAgo, minutesAgo              string
	network                                 string

	states4   map[string]string // of checks, short
	checkName map[string]string
	check     map[string]string // "code/state", or "code/state/reason"
	reasons   map[string]string // of what is missing, by its name
	fixHead   string

	ready, readyNone, readyUser string
}

var infoGerman = infoMessages{
	title: "nativ info", system: "System", driveHead: "Laufwerk %s", targetHead: "Ziel %s",
	checkHead: "Was diese Maschine kann", missingHead: "Nicht lesbar",

	os: "System", cpu: "CPU", memory: "Speicher", board: "Mainboard", kernel: "Kernel", cgroup: "cgroup", hypervisor: "Hypervisor",
	cores:     map[string]string{"performance": "%s P-Kerne", "efficiency": "%s E-Kerne", "": "%s Kerne"},
	core:      map[string]string{"performance": "1 P-Kern", "efficiency": "1 E-Kern", "": "1 Kern"},
	oneThread: "1 Thread", threads: "%s Threads", hz: "%s bis %s", limitHz: "begrenzt auf %s", governor: "Governor %s",
	usable: "%s nutzbar", modules: "%[1]s × %[2]s", mixedModules: "%s Module, zusammen %s", rated: "möglich %s",

	model: "Modell", size: "Größe", link: "Anbindung", temperature: "Temperatur", throttle: "Drosselung", wear: "Verschleiß",
	power: "Energie", errors: "Fehler", health: "Alarm",
	sector: "Sektor %s", scheduler: "Scheduler %s", writeCache: "flüchtiger Schreibcache", noWriteCache: "kein flüchtiger Schreibcache",
	rotational: "rotierend",
	linkBoth:   "Laufwerk kann %s", linkPort: "Steckplatz kann %s", linkUnknown: "PCIe-Anbindung nicht zu sehen",
	limits: "Grenzen", warnAt: "warnt ab %s", criticalAt: "kritisch ab %s", hctm: "HCTM ab %s leicht, ab %s stark", hctmOff: "HCTM nicht eingestellt",
	tmt: "TMT1 %s× (%s s), TMT2 %s× (%s s)", minutesOver: "%s min über der Warnschwelle, %s min kritisch", neverOver: "keine volle Minute über der Warnschwelle", noTMT: "TMT1 und TMT2 nie oder nicht gezählt",
	used: "%s verbraucht", spare: "Reserve %s (Schwelle %s)", written: "%s geschrieben", hours: "%s\u00a0h in Betrieb",
	state: "Stufe %s", states: "von %s", apst: "wechselt selbst (APST)", noAPST: "wechselt nicht selbst",
	mediaErrors: "%s Medienfehler", logEntries: "%s Einträge im Fehlerprotokoll", shutdowns: "%s unsaubere Abschaltungen",
	alarm: "Das Laufwerk meldet: %s",
	alarms: map[string]string{
		"spare": "Reserve unter der Schwelle", "temperature": "Temperatur außerhalb der Schwellen", "reliability": "Zuverlässigkeit vermindert",
		"read-only": "nur noch lesbar", "backup": "Sicherung des flüchtigen Speichers ausgefallen", "pmr": "Persistent Memory Region unzuverlässig",
	},

	filesystem: "Dateisystem", stack: "Aufbau", fill: "Füllstand", trim: "Trim", lastTrim: "Letzter Trim",
	fillText: "%[1]s von %[2]s belegt", fillFree: "%s frei",
	thin:       "liegt in einem Thin Pool; Füllstand und Trim nennt: lvs\u00a0-o\u00a0lv_name,data_percent,metadata_percent,discards",
	trimPassed: "reicht bis zum Laufwerk", trimStopped: "endet bei %s: das Laufwerk erfährt nicht, was frei ist", trimUnknown: "ob er bis zum Laufwerk reicht, ist nicht zu sehen",
	granularity: "Granularität %s", online: "laufend (Option discard)", notOnline: "nicht laufend",
	timerRan: "%s durch fstrim.timer", timerOther: "unbekannt; fstrim.timer (%s) nimmt nur, was in /etc/fstab steht",
	timerUnsure: "unbekannt; fstrim.timer lief %s", timerNever: "unbekannt; von fstrim.timer ist hier keine Spur", byHand: "von Hand danach: nicht zu sehen", continuous: "laufend, sobald etwas frei wird",
	ago: "vor %s", days: "%s Tagen", hoursAgo: "%s Stunden", minutesAgo: "%s Minuten",
	network: "%s: Ein Server antwortet, kein Laufwerk dieser Maschine",

	states4: map[string]string{record.StateOK: "ok", record.StateLimited: "teils", record.StateMissing: "fehlt", record.StateNone: "–"},
	checkName: map[string]string{
		record.CheckRoot: "Rechte", record.CheckIOUring: "io_uring", record.CheckTestFile: "Testdatei", record.CheckDirectIO: "Direct I/O", record.CheckLXC: "LXC",
		record.CheckUserNS: "Unpriv. Container", record.CheckCgroup: "cgroups", record.CheckAppArmor: "AppArmor",
		record.CheckTemperature: "Temperatur", record.CheckCounters: "I/O-Zähler", record.CheckPVE: "Proxmox VE", record.CheckFio: "fio",
		record.CheckSmartctl: "smartctl", record.CheckNVMeCLI: "nvme-cli",
	},
	check: map[string]string{
		"root/ok":                                "root",
		"root/limited/user":                      "ohne root: nur der Ort host, keine Health-Logs",
		"io_uring/ok":                            "%[1]s",
		"io_uring/limited/containers":            "nicht in unprivilegierten Containern (kernel.io_uring_disabled=1)",
		"io_uring/missing":                       "%[2]s",
		"io_uring/missing/absent":                "nicht im Kernel; nötig ist Linux 5.11 mit CONFIG_IO_URING",
		"io_uring/missing/sysctl":                "durch kernel.io_uring_disabled verboten",
		"io_uring/missing/seccomp":               "ein Seccomp-Filter verbietet es, wie in Docker: mit einem Profil starten, das io_uring erlaubt",
		"io_uring/missing/forbidden":             "verboten, weder durch sysctl noch Seccomp: im Kernel-Log nach einem Sicherheitsmodul suchen",
		"io_uring/missing/memlock":               "RLIMIT_MEMLOCK ist zu klein: ulimit -l erhöhen",
		"io_uring/missing/kernel-old":            "der Kernel ist zu alt; nötig ist Linux 5.11",
		"direct-io/ok":                           "%[4]s: Speicher %[1]s, Offset %[2]s ausgerichtet",
		"direct-io/limited/unknown":              "%[4]s: nicht zu prüfen (%[3]s)",
		"test-file/ok":                           "%[4]s",
		"test-file/missing/memory":               "%[4]s: %[1]s liegt im Speicher, nicht auf einem Laufwerk",
		"test-file/missing/overlay":              "%[4]s: %[1]s, dessen Dateien anderswo liegen",
		"test-file/missing/pseudo":               "%[4]s: in %[1]s gibt es keine eigenen Dateien",
		"test-file/missing/read-only":            "%[4]s: nur lesbar eingehängt",
		"test-file/missing/space":                "%[4]s: zu wenig Platz",
		"direct-io/missing/no-direct":            "%[4]s: das Dateisystem kann es nicht",
		"lxc/ok":                                 "%[1]s",
		"lxc/missing":                            "%[2]s nicht gefunden: kein Vergleich mit Containern",
		"unprivileged-containers/ok":             "mit den IDs %[1]s bis %[2]s",
		"unprivileged-containers/missing/kernel": "der Kernel hat keine User-Namespaces: nur --privileged",
		"unprivileged-containers/missing/sysctl": "user.max_user_namespaces ist 0: nur --privileged",
		"cgroup/ok":                              "%[1]s mit %[2]s",
		"cgroup/limited/memory":                  "%[1]s ohne memory: nur mit --memory none",
		"cgroup/missing/none":                    "nicht eingehängt: nur der Ort host",
		"cgroup/missing/controllers":             "%[1]s ohne %[3]s: nur der Ort host",
		"apparmor/ok":                            "Container werden eingeschlossen",
		"apparmor/limited/parser":                "im Kernel, aber apparmor_parser fehlt: Container laufen ohne Profil",
		"apparmor/not-applicable/kernel":         "nicht im Kernel: Container laufen ohne Profil",
		"temperature/ok":                         "Health-Log",
		"temperature/ok/drivetemp":               "vom Sensor jedes Laufwerks",
		"temperature/limited/hwmon":              "nur hwmon, kein Health-Log: %[2]s",
		"temperature/limited/some":               "kein Sensor: %[1]s",
		"temperature/missing/none":               "kein Sensor: %[1]s",
		"temperature/not-applicable/virtual":     "virtuelle Laufwerke haben keinen Sensor",
		"temperature/not-applicable/none":        "kein Laufwerk zu sehen",
		"counters/ok":                            "für jedes Laufwerk",
		"counters/limited":                       "nicht zu lesen: %[1]s",
		"counters/not-applicable":                "kein Laufwerk zu sehen",
		"proxmox/ok":                             "%[1]s mit %[2]s",
		"proxmox/missing/tools":                  "%[1]s, aber pct oder pvesm fehlt",
		"proxmox/not-applicable":                 "kein Proxmox-Host",
		"fio/ok":                                 "%[1]s, für --engine fio",
		"fio/missing/none":                       "nur für --engine fio nötig",
		"fio/missing/broken":                     "%[2]s",
		"smartctl/ok":                            "%[1]s",
		"smartctl/missing":                       "nur zum Vergleichen",
		"nvme-cli/ok":                            "%[1]s",
		"nvme-cli/missing":                       "nur zum Vergleichen",
	},
	reasons: map[string]string{
		"memory-modules": "Speichermodule", "cpu-frequency": "CPU-Frequenz", "identify": "Identify", "features": "Features", "health": "Health-Log",
		"only root may read the SMBIOS tables":                           "die SMBIOS-Tabellen liest nur root",
		"the kernel has no cpufreq driver here, as in a virtual machine": "der Kernel hat hier keinen cpufreq-Treiber, wie in einer virtuellen Maschine",
		"this machine shows no SMBIOS tables":                            "diese Maschine zeigt keine SMBIOS-Tabellen",
		"the SMBIOS tables name no memory module":                        "die SMBIOS-Tabellen nennen keines",
	},
	fixHead: "Abhilfe", kept: "%s für root zurückgehalten",

	ready: "Fazit: nativ bench misst hier auf %s.", readyNone: "Fazit: nativ bench kann hier nicht messen; was fehlt, steht oben.",
	readyUser: "Mit root auch: %s.",
}

var infoEnglish = infoMessages{
	title: "nativ info", system: "System", driveHead: "Drive %s", targetHead: "Target %s",
	checkHead: "What this machine can do", missingHead: "Not readable",

	os: "OS", cpu: "CPU", memory: "Memory", board: "Board", kernel: "Kernel", cgroup: "cgroup", hypervisor: "Hypervisor",
	cores:     map[string]string{"performance": "%s P cores", "efficiency": "%s E cores", "": "%s cores"},
	core:      map[string]string{"performance": "1 P core", "efficiency": "1 E core", "": "1 core"},
	oneThread: "1 thread", threads: "%s threads", hz: "%s to %s", limitHz: "limited to %s", governor: "governor %s",
	usable: "%s usable", modules: "%[1]s × %[2]s", mixedModules: "%s modules, %s in all", rated: "rated %s",

	model: "Model", size: "Size", link: "Link", temperature: "Temperature", throttle: "Throttling", wear: "Wear",
	power: "Power", errors: "Errors", health: "Alarm",
	sector: "sector %s", scheduler: "scheduler %s", writeCache: "volatile write cache", noWriteCache: "no volatile write cache",
	rotational: "rotating",
	linkBoth:   "drive can do %s", linkPort: "slot can do %s", linkUnknown: "PCIe link not visible",
	limits: "Limits", warnAt: "warns from %s", criticalAt: "critical from %s", hctm: "HCTM light from %s, heavy from %s", hctmOff: "HCTM not set",
	tmt: "TMT1 %s× (%s s), TMT2 %s× (%s s)", minutesOver: "%s min above the warning threshold, %s min critical", neverOver: "no full minute above the warning threshold", noTMT: "TMT1 and TMT2 never, or not counted",
	used: "%s used", spare: "spare %s (threshold %s)", written: "%s written", hours: "%s\u00a0h powered on",
	state: "state %s", states: "of %s", apst: "changes by itself (APST)", noAPST: "does not change by itself",
	mediaErrors: "%s media errors", logEntries: "%s error log entries", shutdowns: "%s unsafe shutdowns",
	alarm: "the drive reports: %s",
	alarms: map[string]string{
		"spare": "spare below its threshold", "temperature": "temperature outside its thresholds", "reliability": "reliability degraded",
		"read-only": "read-only", "backup": "backup of volatile memory failed", "pmr": "persistent memory region unreliable",
	},

	filesystem: "Filesystem", stack: "Stack", fill: "Fill level", trim: "Trim", lastTrim: "Last trim",
	fillText: "%[1]s of %[2]s used", fillFree: "%s free",
	thin:       "lies in a thin pool; its fill level and trim: lvs\u00a0-o\u00a0lv_name,data_percent,metadata_percent,discards",
	trimPassed: "reaches the drive", trimStopped: "ends at %s: the drive never gets to know what is free", trimUnknown: "whether it reaches the drive cannot be seen",
	granularity: "granularity %s", online: "as files go (option discard)", notOnline: "not as files go",
	timerRan: "%s by fstrim.timer", timerOther: "unknown; fstrim.timer (%s) takes only what is in /etc/fstab",
	timerUnsure: "unknown; fstrim.timer ran %s", timerNever: "unknown; there is no trace of fstrim.timer here", byHand: "later ones by hand cannot be seen", continuous: "continuously, as soon as something is free",
	ago: "%s ago", days: "%s days", hoursAgo: "%s hours", minutesAgo: "%s minutes",
	network: "%s: a server answers, no drive of this machine",

	states4: map[string]string{record.StateOK: "ok", record.StateLimited: "partly", record.StateMissing: "missing", record.StateNone: "–"},
	checkName: map[string]string{
		record.CheckRoot: "Rights", record.CheckIOUring: "io_uring", record.CheckTestFile: "Test file", record.CheckDirectIO: "Direct I/O", record.CheckLXC: "LXC",
		record.CheckUserNS: "Unpriv. container", record.CheckCgroup: "cgroups", record.CheckAppArmor: "AppArmor",
		record.CheckTemperature: "Temperature", record.CheckCounters: "I/O counters", record.CheckPVE: "Proxmox VE", record.CheckFio: "fio",
		record.CheckSmartctl: "smartctl", record.CheckNVMeCLI: "nvme-cli",
	},
	check: map[string]string{
		"root/ok":                                "root",
		"root/limited/user":                      "without root: only the place host, no health logs",
		"io_uring/ok":                            "%[1]s",
		"io_uring/limited/containers":            "not in unprivileged containers (kernel.io_uring_disabled=1)",
		"io_uring/missing":                       "%[2]s",
		"io_uring/missing/absent":                "not in the kernel; it needs Linux 5.11 with CONFIG_IO_URING",
		"io_uring/missing/sysctl":                "forbidden by kernel.io_uring_disabled",
		"io_uring/missing/seccomp":               "a seccomp filter forbids it, as in Docker: start with a profile that allows io_uring",
		"io_uring/missing/forbidden":             "forbidden, by neither sysctl nor seccomp: look for a security module in the kernel log",
		"io_uring/missing/memlock":               "RLIMIT_MEMLOCK is too small: raise ulimit -l",
		"io_uring/missing/kernel-old":            "the kernel is too old; it needs Linux 5.11",
		"direct-io/ok":                           "%[4]s: memory aligned to %[1]s, offset to %[2]s",
		"direct-io/limited/unknown":              "%[4]s: cannot be tried (%[3]s)",
		"test-file/ok":                           "%[4]s",
		"test-file/missing/memory":               "%[4]s: %[1]s lies in memory, not on a drive",
		"test-file/missing/overlay":              "%[4]s: %[1]s, whose files lie elsewhere",
		"test-file/missing/pseudo":               "%[4]s: %[1]s holds no files of one's own",
		"test-file/missing/read-only":            "%[4]s: mounted read-only",
		"test-file/missing/space":                "%[4]s: too little space",
		"direct-io/missing/no-direct":            "%[4]s: the filesystem cannot do it",
		"lxc/ok":                                 "%[1]s",
		"lxc/missing":                            "%[2]s not found: no comparison with containers",
		"unprivileged-containers/ok":             "with the IDs %[1]s to %[2]s",
		"unprivileged-containers/missing/kernel": "the kernel has no user namespaces: only --privileged",
		"unprivileged-containers/missing/sysctl": "user.max_user_namespaces is 0: only --privileged",
		"cgroup/ok":                              "%[1]s with %[2]s",
		"cgroup/limited/memory":                  "%[1]s without memory: only with --memory none",
		"cgroup/missing/none":                    "not mounted: only the place host",
		"cgroup/missing/controllers":             "%[1]s without %[3]s: only the place host",
		"apparmor/ok":                            "containers are confined",
		"apparmor/limited/parser":                "in the kernel, but apparmor_parser is missing: containers run without a profile",
		"apparmor/not-applicable/kernel":         "not in the kernel: containers run without a profile",
		"temperature/ok":                         "health log",
		"temperature/ok/drivetemp":               "by the sensor of each drive",
		"temperature/limited/hwmon":              "hwmon only, no health log: %[2]s",
		"temperature/limited/some":               "no sensor: %[1]s",
		"temperature/missing/none":               "no sensor: %[1]s",
		"temperature/not-applicable/virtual":     "virtual drives have no sensor",
		"temperature/not-applicable/none":        "no drive can be seen",
		"counters/ok":                            "for each drive",
		"counters/limited":                       "not readable: %[1]s",
		"counters/not-applicable":                "no drive can be seen",
		"proxmox/ok":                             "%[1]s with %[2]s",
		"proxmox/missing/tools":                  "%[1]s, but pct or pvesm is missing",
		"proxmox/not-applicable":                 "no Proxmox host",
		"fio/ok":                                 "%[1]s, for --engine fio",
		"fio/missing/none":                       "needed for --engine fio only",
		"fio/missing/broken":                     "%[2]s",
		"smartctl/ok":                            "%[1]s",
		"smartctl/missing":                       "to compare with only",
		"nvme-cli/ok":                            "%[1]s",
		"nvme-cli/missing":                       "to compare with only",
	},
	reasons: map[string]string{
		"memory-modules": "memory modules", "cpu-frequency": "CPU frequency", "identify": "Identify", "features": "Features", "health": "health log",
		"only root may read the SMBIOS tables":                           "only root may read the SMBIOS tables",
		"the kernel has no cpufreq driver here, as in a virtual machine": "the kernel has no cpufreq driver here, as in a virtual machine",
		"this machine shows no SMBIOS tables":                            "this machine shows no SMBIOS tables",
		"the SMBIOS tables name no memory module":                        "the SMBIOS tables name none",
	},
	fixHead: "Remedy", kept: "%s kept for root",

	ready: "Verdict: here nativ bench measures on %s.", readyNone: "Verdict: nativ bench cannot measure here; what is missing stands above.",
	readyUser: "As root also: %s.",
}

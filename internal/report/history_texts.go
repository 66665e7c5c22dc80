package report

import "nativ/internal/analysis"

// historyMessages are the texts of nativ history.
type historyMessages struct {
	title, oneRun, nRuns                 string
	run, test, drive, remarks            string
	imported, fromFile, incomplete, note string
	tags, from, tool, system, measured   string

	drivesHead, size, runs, last, wear, spare string
	choose                                    string
	noSerial, firmware                        string
	span, left                                string
	wearHead, date, used, written, hours      string
	media, noWear                             string
	courseHead, place, since, mean, extent    string
	change, noCourse                          string
	slower, faster                            string
	first, before, nothing, unknownBefore     string
	coincidence, least, negligible, geometric string
	pointsHead                                string
	differs                                   map[string]string
	day                                       string // layout of package time
}

var historyEnglish = historyMessages{
	title: "nativ history", oneRun: "1 run", nRuns: "%s runs",
	run: "Run", test: "Test", drive: "Drive", remarks: "Remarks",
	imported: "imported", fromFile: "from a file", incomplete: "incomplete", note: "Note",
	tags: "Tags", from: "Origin", tool: "Tool", system: "System", measured: "measured here",

	drivesHead: "Drives of the history", size: "Size", runs: "Runs", last: "Last run", wear: "Used", spare: "Spare",
	choose:   "One of them, by name, model or the end of the serial number: nativ history drive %s",
	noSerial: "no serial number: told by its name and size", firmware: "Firmware",
	span: "%s, %s to %s", left: "%s of them in no course: simulated, imported, over several drives, or without a whole test",
	wearHead: "Wear", date: "Date", used: "Used", written: "Written", hours: "Hours", media: "Media errors",
	noWear:     "No run has a health log of this drive (NVMe, read as root).",
	courseHead: "Course", place: "Place", since: "Since", mean: "Mean", extent: "Least to most", change: "Change",
	noCourse: "No run has a whole test of this drive alone.",
	slower:   "%s, %s: %s\u00a0%% slower", faster: "%s, %s: %s\u00a0%% faster",
	first: "Since %s (run %s), the first run with %s:", before: "%s %s (before: %s)", unknownBefore: "unknown",
	nothing:     "Since %s (run %s), where nothing else changed that nativ records:",
	coincidence: "What changed at the same time may be the cause or not: it coincides, no more.",
	least:       "Changes are looked for from %s runs with the same settings on.",
	negligible:  "Changes below 3\u00a0% are not named.",
	geometric:   "Mean: geometric, over the runs. Settings are equal within a course.",
	pointsHead:  "Runs",
	differs: map[string]string{
		analysis.DiffersKernel: "kernel", analysis.DiffersFirmware: "firmware", analysis.DiffersPVE: "Proxmox VE",
		analysis.DiffersFilesystem: "file system", analysis.DiffersPreset: "preset", analysis.DiffersLink: "PCIe link",
		analysis.DiffersOS: "system", analysis.DiffersCPU: "CPU", analysis.DiffersTool: "tool",
	},
	day: "2006-01-02",
}

var historyGerman = historyMessages{
	title: "nativ history", oneRun: "1 Lauf", nRuns: "%s Läufe",
	run: "Lauf", test: "Test", drive: "Laufwerk", remarks: "Bemerkungen",
	imported: "importiert", fromFile: "aus Datei", incomplete: "unvollständig", note: "Notiz",
	tags: "Schlagwörter", from: "Herkunft", tool: "Werkzeug", system: "System", measured: "hier gemessen",

	drivesHead: "Laufwerke der Historie", size: "Größe", runs: "Läufe", last: "Letzter Lauf", wear: "Verbraucht", spare: "Reserve",
	choose:   "Eines davon, nach Name, Modell oder Ende der Seriennummer: nativ history drive %s",
	noSerial: "ohne Seriennummer: an Name und Größe erkannt", firmware: "Firmware",
	span: "%s, %s bis %s", left: "%s davon in keinem Verlauf: simuliert, importiert, über mehrere Laufwerke oder ohne vollständigen Test",
	wearHead: "Verschleiß", date: "Datum", used: "Verbraucht", written: "Geschrieben", hours: "Stunden", media: "Medienfehler",
	noWear:     "Kein Lauf hat ein Health-Log dieses Laufwerks (NVMe, als root gelesen).",
	courseHead: "Verlauf", place: "Ort", since: "Seit", mean: "Mittel", extent: "Kleinster bis größter", change: "Änderung",
	noCourse: "Kein Lauf hat einen vollständigen Test dieses Laufwerks allein.",
	slower:   "%s, %s: %s\u00a0%% langsamer", faster: "%s, %s: %s\u00a0%% schneller",
	first: "Seit %s (Lauf %s), dem ersten Lauf mit %s:", before: "%s %s (vorher: %s)", unknownBefore: "unbekannt",
	nothing:     "Seit %s (Lauf %s), wo sich sonst nichts änderte, was nativ aufzeichnet:",
	coincidence: "Was sich gleichzeitig änderte, kann die Ursache sein oder nicht: Es fällt zeitlich zusammen, mehr nicht.",
	least:       "Änderungen werden ab %s Läufen mit gleichen Einstellungen gesucht.",
	negligible:  "Änderungen unter 3\u00a0% werden nicht genannt.",
	geometric:   "Mittel: geometrisch, über die Läufe. Innerhalb eines Verlaufs sind die Einstellungen gleich.",
	pointsHead:  "Läufe",
	differs: map[string]string{
		analysis.DiffersKernel: "Kernel", analysis.DiffersFirmware: "Firmware", analysis.DiffersPVE: "Proxmox VE",
		analysis.DiffersFilesystem: "Dateisystem", analysis.DiffersPreset: "Umfang", analysis.DiffersLink: "PCIe-Anbindung",
		analysis.DiffersOS: "System", analysis.DiffersCPU: "CPU", analysis.DiffersTool: "Werkzeug",
	},
	day: "02.01.2006",
}

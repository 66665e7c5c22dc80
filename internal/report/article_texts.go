package report

// articleMessages are the sentences of the long report.
type articleMessages struct {
	against, withPinned                                               string // what its title compares
	simulated                                                         string
	courses, system, method, results, analysis, heat, verdict, notes  string // headings
	data, commands, detailsOf                                         string
	host, hostOS, driveIs, fileIs, containerIs                        string
	testsAre, allSettings, settings, course, rounds, order, splitWhy  string
	prefilled, commandsNote, memory, board                            string
	placeSpeed, speeds, speedsBest                                    string
	difference, parts, part, partOnly, proven, unproven, noDifference string
	notCompared                                                       string
	latencies, latencyAt, busy, notBusy                               string
	sensorFrom, sensorAlways, limits, noHeat, tooShort                string
	drops                                                             map[string]string // how many falls in speed: "0", "1", "n"
	record, hash                                                      string
}

var articleEnglish = articleMessages{
	against: "%[1]s: %[2]s against %[3]s", withPinned: "%[1]s: %[2]s",
	simulated: "SIMULATED: a drive model answered (%[1]s, %[2]s). Nothing on this page was measured.",
	courses:   "Charts", system: "System and setup", method: "Method", results: "Results", analysis: "Analysis", heat: "Temperature", verdict: "Conclusion", notes: "Notes",
	data: "Data", commands: "The same with fio", detailsOf: "%s in detail",

	host: "The test system has %s.", hostOS: "It runs %s.", driveIs: "The drive is %s.",
	fileIs: "The test file of %[1]s lies in %[2]s; the way down to the drive is %[3]s.", containerIs: "The container: %s.",
	testsAre: "The run has %[1]s: %[2]s.", allSettings: "All of them keep %[1]s in flight at once (iodepth %[2]s, numjobs %[3]s).", settings: "%[1]s (iodepth\u00a0%[2]s, numjobs\u00a0%[3]s)",
	course: "It went like this: %s.", rounds: "In each of the %s rounds of a test every place had its turn twice, once on the way there and once on the way back, so that a steady drift takes the same from each.",
	order:    "The places took turns in this order: %s.",
	splitWhy: "%[1]s is the host on exactly the CPUs and with the limits of the container: so what fewer CPUs cost is told from what the container costs.",
	memory:   "%s of memory", board: "the board %s",
	prefilled:    "Before that the test file was written once in full (%[1]s at %[2]s), so that every read finds data.",
	commandsNote: "Each of these lines does with fio what the test of that name does. FILE stands for a file of %s that was written in full before.",
	placeSpeed:   "%[1]s (%[2]s)", speeds: "%[1]s: %[2]s on average.", speedsBest: "%[1]s: %[2]s on average; the best second was %[3]s.",
	difference: "%[1]s, %[2]s against %[3]s: %[4]s.", parts: "%[1]s, of which fewer CPUs %[2]s and the container %[3]s", part: "%[1]s\u00a0%% (%[2]s)", partOnly: "%[1]s\u00a0%% %[2]s (%[3]s)",
	proven: "shown", unproven: "not shown", noDifference: "With one place there is nothing to compare.",
	notCompared: "%s: not to be compared.",
	latencies:   "%[1]s: 99\u00a0%% of the I/Os were done within %[2]s.", latencyAt: "%[1]s (%[2]s)",
	busy: "The CPUs were used up in: %s.", notBusy: "In no test were the CPUs of a place used up.",
	sensorFrom: "%[1]s read %[2]s at the start and between %[3]s and %[4]s during the run.", sensorAlways: "%[1]s read %[2]s all the time.",
	limits: "What the drive itself says: %s.", noHeat: "No throttling by heat was seen.", tooShort: "The passes were too short to show whether heat slows the drive down.",
	drops:  map[string]string{"0": "No pass fell in speed.", "1": "The speed fell in one place of the course.", "n": "The speed fell %s times in the course."},
	record: "Record", hash: "SHA-256 of the record",
}

var articleGerman = articleMessages{
	against: "%[1]s: %[2]s gegen %[3]s", withPinned: "%[1]s: %[2]s",
	simulated: "SIMULIERT (SIMULATED): Ein Laufwerksmodell antwortete (%[1]s, %[2]s). Nichts auf dieser Seite wurde gemessen.",
	courses:   "Diagramme", system: "System und Aufbau", method: "Methodik", results: "Ergebnisse", analysis: "Analyse", heat: "Temperaturentwicklung", verdict: "Fazit", notes: "Hinweise",
	data: "Daten", commands: "Dasselbe mit fio", detailsOf: "%s im Einzelnen",

	host: "Das Testsystem hat %s.", hostOS: "Darauf läuft %s.", driveIs: "Das Laufwerk ist %s.",
	fileIs: "Die Testdatei von %[1]s liegt in %[2]s; der Weg von dort zum Laufwerk ist %[3]s.", containerIs: "Der Container: %s.",
	testsAre: "Der Lauf hat %[1]s: %[2]s.", allSettings: "Alle halten %[1]s zugleich in Arbeit (iodepth %[2]s, numjobs %[3]s).", settings: "%[1]s (iodepth\u00a0%[2]s, numjobs\u00a0%[3]s)",
	course: "Der Ablauf: %s.", rounds: "In jeder der %s Runden eines Tests kam jeder Ort zweimal an die Reihe, einmal auf dem Hinweg und einmal auf dem Rückweg, damit eine stetige Drift allen gleich viel nimmt.",
	order:    "Die Orte wechselten sich in dieser Reihenfolge ab: %s.",
	splitWhy: "%[1]s ist der Host auf genau den CPUs und mit den Grenzen des Containers: So trennt sich, was weniger CPUs kosten, von dem, was der Container kostet.",
	memory:   "%s Arbeitsspeicher", board: "das Mainboard %s",
	prefilled:    "Vorher wurde die Testdatei einmal ganz geschrieben (%[1]s mit %[2]s), damit jedes Lesen Daten findet.",
	commandsNote: "Jede dieser Zeilen tut mit fio, was der gleichnamige Test tut. FILE steht für eine Datei von %s, die vorher ganz geschrieben wurde.",
	placeSpeed:   "%[1]s (%[2]s)", speeds: "%[1]s: im Mittel %[2]s.", speedsBest: "%[1]s: im Mittel %[2]s; die beste Sekunde war %[3]s.",
	difference: "%[1]s, %[2]s gegen %[3]s: %[4]s.", parts: "%[1]s, davon weniger CPUs %[2]s und der Container %[3]s", part: "%[1]s\u00a0%% (%[2]s)", partOnly: "%[1]s\u00a0%% %[2]s (%[3]s)",
	proven: "nachgewiesen", unproven: "nicht nachgewiesen", noDifference: "Mit einem einzigen Ort gibt es nichts zu vergleichen.",
	notCompared: "%s: nicht zu vergleichen.",
	latencies:   "%[1]s: 99\u00a0%% der I/Os waren fertig nach höchstens %[2]s.", latencyAt: "%[1]s (%[2]s)",
	busy: "Ausgelastet waren die CPUs in: %s.", notBusy: "In keinem Test waren die CPUs eines Ortes ausgelastet.",
	sensorFrom: "%[1]s zeigte zu Beginn %[2]s und während des Laufs zwischen %[3]s und %[4]s.", sensorAlways: "%[1]s zeigte die ganze Zeit %[2]s.",
	limits: "Was das Laufwerk selbst angibt: %s.", noHeat: "Drosseln wegen Hitze war nicht zu sehen.", tooShort: "Um zu zeigen, ob Hitze das Laufwerk bremst, waren die Durchgänge zu kurz.",
	drops:  map[string]string{"0": "In keinem Durchgang brach die Geschwindigkeit ein.", "1": "An einer Stelle des Verlaufs brach die Geschwindigkeit ein.", "n": "Im Verlauf brach die Geschwindigkeit %s-mal ein."},
	record: "Datensatz", hash: "SHA-256 des Datensatzes",
}

-- A history of schema version 1; never to be changed.

CREATE TABLE run (
	id         TEXT PRIMARY KEY NOT NULL,
	started_ns INTEGER,                    -- since 1970, UTC; NULL where the record does not tell
	origin     TEXT NOT NULL,              -- measured, imported, simulated
	from_file  INTEGER NOT NULL,
	tool       TEXT NOT NULL,
	preset     TEXT NOT NULL,
	places     TEXT NOT NULL,              -- JSON array
	complete   INTEGER NOT NULL,
	kernel     TEXT NOT NULL,
	os         TEXT NOT NULL,
	pve        TEXT NOT NULL,
	cpu        TEXT NOT NULL,
	filesystem TEXT NOT NULL,
	summary    INTEGER NOT NULL,           -- version of the rules behind what is not the user's
	note       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX run_started ON run (started_ns, id);
CREATE TABLE tag (
	run TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	tag TEXT NOT NULL,
	PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_tag ON tag (tag);
CREATE TABLE drive (
	run             TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	position        INTEGER NOT NULL,
	key             TEXT NOT NULL,
	name            TEXT NOT NULL,
	model           TEXT NOT NULL,
	serial          TEXT NOT NULL,
	firmware        TEXT NOT NULL,
	size_bytes      INTEGER NOT NULL,
	link_mts        INTEGER,
	link_width      INTEGER,
	percentage_used INTEGER,
	available_spare INTEGER,
	spare_threshold INTEGER,
	written_bytes   INTEGER,
	power_on_hours  INTEGER,
	media_errors    INTEGER,
	PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX drive_key ON drive (key);
CREATE TABLE setting (
	id    INTEGER PRIMARY KEY,
	json  TEXT NOT NULL UNIQUE,            -- record.Setting
	phase TEXT NOT NULL,
	place TEXT NOT NULL
) STRICT;
CREATE INDEX setting_phase ON setting (phase, place);
CREATE TABLE number (
	run              TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
	setting          INTEGER NOT NULL REFERENCES setting,
	passes           INTEGER NOT NULL,
	planned          INTEGER NOT NULL,
	iops             REAL,
	bytes_per_second REAL,
	p50_ns           INTEGER,
	p99_ns           INTEGER,
	p99_9_ns         INTEGER,
	PRIMARY KEY (run, setting)
) STRICT, WITHOUT ROWID;
CREATE INDEX number_setting ON number (setting);
-- Apart, so that a list does not have to pass over the records.
CREATE TABLE record (
	run    TEXT PRIMARY KEY NOT NULL REFERENCES run ON DELETE CASCADE,
	sha256 BLOB NOT NULL,                  -- of the JSON
	zstd   BLOB NOT NULL                   -- the JSON
) STRICT;
PRAGMA application_id = 0x6e617469;
PRAGMA user_version = 1;
INSERT INTO run (id, started_ns, origin, from_file, tool, preset, places, complete, kernel, os, pve, cpu, filesystem, summary, note)
VALUES ('20260101-000100-0001', 1767225660000000000, 'measured', 0, 'nativ 1', 'quick', '["host","lxc"]', 1, '6.14.11-2-pve', 'Debian', '9.0', 'a CPU', 'ext4 lvm', 1, '');
INSERT INTO run (id, started_ns, origin, from_file, tool, preset, places, complete, kernel, os, pve, cpu, filesystem, summary, note)
VALUES ('20260101-000200-0002', 1767225720000000000, 'measured', 0, 'nativ 1', 'quick', '["host","lxc"]', 1, '6.14.11-2-pve', 'Debian', '9.0', 'a CPU', 'ext4 lvm', 1, 'it''s cold');
INSERT INTO tag (run, tag)
VALUES ('20260101-000200-0002', 'new heatsink');
INSERT INTO drive (run, position, key, name, model, serial, firmware, size_bytes, link_mts, link_width, percentage_used, available_spare, spare_threshold, written_bytes, power_on_hours, media_errors)
VALUES ('20260101-000100-0001', 0, 'S1', 'nvme0n1', 'A drive', 'S1', '1', 1000000000000, 16000, 4, 3, 100, NULL, NULL, NULL, NULL);
INSERT INTO drive (run, position, key, name, model, serial, firmware, size_bytes, link_mts, link_width, percentage_used, available_spare, spare_threshold, written_bytes, power_on_hours, media_errors)
VALUES ('20260101-000200-0002', 0, 'S1', 'nvme0n1', 'A drive', 'S1', '1', 1000000000000, 16000, 4, 3, 100, NULL, NULL, NULL, NULL);
INSERT INTO setting (id, json, phase, place)
VALUES (1, '{"phase":{"name":"randread-4k","rw":"randread","bs_bytes":4096,"iodepth":32,"numjobs":4,"direct":false,"runtime_ns":0},"place":"host","file_size_bytes":8589934592}', 'randread-4k', 'host');
INSERT INTO setting (id, json, phase, place)
VALUES (2, '{"phase":{"name":"randread-4k","rw":"randread","bs_bytes":4096,"iodepth":32,"numjobs":4,"direct":false,"runtime_ns":0},"place":"lxc","file_size_bytes":8589934592}', 'randread-4k', 'lxc');
INSERT INTO number (run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns)
VALUES ('20260101-000100-0001', 1, 2, 2, 1001.5, NULL, 100000, NULL, NULL);
INSERT INTO number (run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns)
VALUES ('20260101-000100-0001', 2, 2, 2, 1001.5, NULL, 100000, NULL, NULL);
INSERT INTO number (run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns)
VALUES ('20260101-000200-0002', 1, 2, 2, 1002.5, NULL, 100000, NULL, NULL);
INSERT INTO number (run, setting, passes, planned, iops, bytes_per_second, p50_ns, p99_ns, p99_9_ns)
VALUES ('20260101-000200-0002', 2, 2, 2, 1002.5, NULL, 100000, NULL, NULL);
INSERT INTO record (run, sha256, zstd)
VALUES ('20260101-000100-0001', X'3C1C63EB9FC5899F6FFEEFE9996FEFC2509D69E805FE77DE90336A7D7ACDE844', X'28B52FFD64E30A95010074027B226964223A2232303236303130312D303030313030222C2266696C6C696E67223A2278227D0A0200B4C37945426902AE1E8D97');
INSERT INTO record (run, sha256, zstd)
VALUES ('20260101-000200-0002', X'D7691FB7CAE2C873B12ADAE0EA03E6A45260F1F3AB950D46988F47018C75DD3B', X'28B52FFD64E30A95010074027B226964223A2232303236303130312D303030323030222C2266696C6C696E67223A2278227D0A0200B4C37945426902106CEF10');

package blkid

// gpt looks for both headers of a GUID partition table: in the second sector and
// in the last one (UEFI 2.10, 5.3.2). The backup alone is a table too: tools
// restore the first one from it.
func gpt(d *device) {
	for _, sector := range []int64{512, 4096} {
		if d.is(sector, "EFI PART") {
			d.add(Found{Type: "gpt", Kind: Table, Offset: sector})
		}
	}
	for _, sector := range []int64{512, 4096} {
		if off := d.size/sector*sector - sector; d.is(off, "EFI PART") {
			d.add(Found{Type: "gpt", Kind: Table, Offset: off})
		}
	}
}

// tables looks for the other partition tables.
func tables(d *device) {
	table := func(typ string, off int64) { d.add(Found{Type: typ, Kind: Table, Offset: off}) }
	if b := d.at(0, 512); b != nil {
		flags := 0
		for i := 0x1be; i < 0x1fe; i += 16 {
			if b[i] == 0 || b[i] == 0x80 {
				flags++
			}
		}
		// A table without entries counts: somebody wrote it. Boot sectors of
		// filesystems end in the same two bytes, and are found as these.
		if b[510] == 0x55 && b[511] == 0xaa && flags == 4 {
			table("dos", 510)
		}
		// Sun's label: a magic number and a sum of all words that is 0
		// (struct sun_disklabel, block/partitions/sun.c).
		var sum uint16
		for i := 0; i < 512; i += 2 {
			sum ^= uint16(b[i])<<8 | uint16(b[i+1])
		}
		if b[508] == 0xda && b[509] == 0xbe && sum == 0 {
			table("sun", 508)
		}
	}
	if d.is(0, "\x0b\xe5\xa9\x41") {
		table("sgi", 0)
	}
	if d.is(0, "\xc9\xc2\xd4\xc1") {
		table("aix", 0)
	}
	if d.is(0, "ER") && (d.is(512, "PM") || d.is(2048, "PM")) {
		table("mac", 0)
	}
	// struct bsd_disklabel, in the first or the second sector.
	for _, off := range []int64{0, 64, 512} {
		if d.is(off, "\x57\x45\x56\x82") && d.is(off+132, "\x57\x45\x56\x82") {
			table("bsd", off)
		}
	}
	// Amiga's rigid disk block lies in one of the first 16 sectors.
	for off := int64(0); off < 16*512; off += 512 {
		if d.is(off, "RDSK") {
			table("amiga", off)
		}
	}
}

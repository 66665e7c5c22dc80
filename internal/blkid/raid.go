package blkid

import "encoding/binary"

// firmwareRAID looks for what the RAID of mainboards and controllers leaves in
// the last sectors (dmraid's formats of the same names, SNIA's DDF 2.0).
func firmwareRAID(d *device) {
	sectors := d.size / 512
	member := func(typ string, off int64) { d.add(Found{Type: typ, Kind: RAID, Offset: off}) }
	fromEnd := func(n int64) int64 { return (sectors - n) * 512 }
	for _, sector := range []int64{512, 4096} {
		if off := d.size/sector*sector - 2*sector; d.is(off, "Intel Raid ISM Cfg Sig. ") {
			member("isw_raid_member", off)
		}
	}
	for _, off := range []int64{fromEnd(1), fromEnd(257)} {
		if d.is(off, "\xde\x11\xde\x11") || d.is(off, "\x11\xde\x11\xde") {
			member("ddf_raid_member", off)
			break
		}
	}
	for _, n := range []int64{63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087} {
		if d.is(fromEnd(n), "Promise Technology, Inc.") {
			member("promise_fasttrack_raid_member", fromEnd(n))
			break
		}
	}
	if d.is(fromEnd(2), "NVIDIA") {
		member("nvidia_raid_member", fromEnd(2))
	}
	if d.is(fromEnd(1), "$XIDE$") {
		member("lsi_mega_raid_member", fromEnd(1))
	}
	if d.is(fromEnd(1), "DPTM") {
		member("adaptec_raid_member", fromEnd(1))
	}
	if d.is(fromEnd(1)+0x60, "\x00\x00\x00\x2f") {
		member("silicon_medley_raid_member", fromEnd(1))
	}
	if m := d.le32(9*512 + 32); m == 0x5a7816f0 || m == 0x5a7816fd {
		member("hpt37x_raid_member", 9*512+32)
	}
	if m := d.le32(fromEnd(11)); m == 0x5a7816f3 || m == 0x5a7816fd {
		member("hpt45x_raid_member", fromEnd(11))
	}
	if b := d.at(fromEnd(1), 512); b != nil {
		switch {
		case b[0] == 'J' && b[1] == 'M' && sum16(b[:128]) <= 1:
			member("jmicron_raid_member", fromEnd(1))
		case b[0] == 0x55 && b[1] == 0xaa && b[2] <= 2 && sum8(b[:50]) == b[50]:
			member("via_raid_member", fromEnd(1))
		}
	}
}

func sum8(b []byte) (s uint8) {
	for _, c := range b {
		s += c
	}
	return s
}

func sum16(b []byte) (s uint16) {
	for i := 0; i+1 < len(b); i += 2 {
		s += binary.LittleEndian.Uint16(b[i:])
	}
	return s
}

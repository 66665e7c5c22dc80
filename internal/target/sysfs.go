package target

import "strings"

// unitSerial reads the serial number from a SCSI VPD page 80h: four bytes of
// header and the text (SPC-4, 7.8.15).
func unitSerial(page string) *string {
	if len(page) <= 4 || page[1] != 0x80 {
		return nil
	}
	if s := strings.Trim(page[4:], " \x00\n"); s != "" {
		return &s
	}
	return nil
}

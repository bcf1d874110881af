// Package filelog keeps a log in files of its own. It knows nothing of what the messages contain.
//
// # Files
//
// A log has a directory of segments and a file with its mark, which is next to the directory, not in it. A segment is
// named after its place among the segments, counted from 1, with the suffix .seg. Places have no gaps; deleting begins
// with the lowest. A segment was written with zeros before it was first used, and has its size from then on. So a sync
// writes data only, and nothing about the file. A segment whose messages were all deleted is used again, with another
// place.
//
// All numbers are little-endian. All checksums are CRC-32C (Castagnoli). A segment begins with a header:
//
//	 0  4 bytes  "EpiS"
//	 4  4 bytes  version of the format: 1
//	 8  8 bytes  incarnation, a random number that is drawn each time the file becomes a segment
//	16  8 bytes  number of the first message
//	24  4 bytes  size of the file
//	28  4 bytes  checksum of the bytes before
//
// Records follow without gaps, each padded with zeros to a multiple of 8 bytes:
//
//	 0  4 bytes  length of the message
//	 4  4 bytes  checksum of the incarnation, the length, the number and the message
//	 8  8 bytes  number of the message
//	16           the message
//
// The incarnation is part of the checksum, so what an earlier use of the file has left behind is no record. Nor is what a
// segment has with the numbers of the next one: the rest of a message that could not be written.
//
// # What is known after a crash
//
// There is at most one record that was written and not synced, because each is synced before the next is written.
// Therefore a place without a valid record is the end of the log if no valid record of a higher number follows, and
// damage otherwise. The last record may be in the page cache only, as a sync may have failed, or never begun. So it is
// written and synced again when a log is opened.
//
// The mark has two places in its file, and is written to the one that does not hold the highest mark. So a write that is
// torn never takes the mark away. Only Open writes to the place of the highest mark, the same bytes.
//
// Names are synced before anything depends on them: that of a new segment before a message is acknowledged that is in it,
// and that of a file that is free before the file is used again. Of a deletion, any part may be left. So the log begins
// after the last gap in the places.
//
// What can't be told: records at the end that were altered, if none after them is valid, from one that was never
// acknowledged; and the segments that are missing at the end. The mark is for that.
//
// # Failures
//
// When a write or a sync has failed, it is unknown what is on the disk, and what the kernel shows need not be. Then the
// log refuses all further writes until it is opened again. A lack of room or of open files is different: nothing depends
// on what was written until then, and it goes by. A disk that hangs is noticed by its silence: calls end with their
// contexts, and what they have begun goes on in a goroutine, for which the next call waits.
package filelog

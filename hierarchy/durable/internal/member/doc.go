// Package member makes this process one of those that share a name. It keeps a lease by renewing a
// record in a table, learns who else lives, deletes the leases of those that are gone, and claims
// partitions and gives them away. It knows nothing of timers or logs.
//
// The table has two kinds of records:
//
//	member.<id>          who lives: version, text, lease, counter, whether it is leaving, new, or off, what it
//	                     can't take, which versions of frames and messages it reads
//	claim.<partition>    who may own a partition: version, member (0: nobody)
//
// The claim says who may own a partition. The lease of the holder says whether it does now. Both
// are changed by compare-and-set only.
//
// # The lease
//
// A member holds its lease until 0.75 Lease after it sent the renewal that was acknowledged last. If
// an answer is lost, the same renewal is sent again, and the lease counts from its first copy, since
// that may be the one that took hold. Others wait 1.25 Lease after they saw the last renewal, then
// delete the record if it still has the revision that they saw. Their clocks may run at different
// rates, as long as 0.75 Lease of one is less than 1.25 Lease of another. They begin the wait anew
// whenever their own renewals did not get through: else, after a table was away for long, all would
// delete each other.
//
// A record that was deleted never comes back, as each Join has an id of its own. So a member whose
// record is gone is dead for good, and its claims are free. Where a record was not seen, that decides
// nothing: the member deletes it at revision 0, which the table refuses if there is one.
package member

// For how long a replica may answer consistent reads from what it has received, without a word from the owner. Both count from a
// message of the replica: the replica from when it sent it, the owner from when it read it, which is later. So the replica's lease
// is over before the owner takes it for over, however slow either process is, and whether or not their clocks agree.
//
//   replica   ├ sends renew ──────────── LEASE_MS ─┤ answers no consistent read any more
//   owner          ├ reads it ──────────── LEASE_MS ─┤ may go on without the replica

export const LEASE_MS = 1_000;
export const RENEW_EVERY_MS = LEASE_MS / 4;

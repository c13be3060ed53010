import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Booked, Booking, Lease } from './history.ts';
import { keyOf } from './told.ts';

const check = 'half a transaction';

/** Each business row was committed by the transaction that finished its row, and each row that says so has one. */
export function findHalfDone(
  bookings: readonly Booking[],
  leases: ReadonlyMap<string, Lease>,
  booked: readonly Booked[],
): Violation[] {
  const found = new Map(bookings.map((booking) => [keyOf(booking.row, booking.claim), booking]));
  return [
    ...bookings.flatMap((booking) => withoutRow(booking, leases.get(keyOf(booking.row, booking.claim)))),
    ...[...leases].flatMap(([key, lease]) => withoutBooking(lease, found.has(key))),
    ...booked.flatMap((one) => toldWrong(one, found.has(keyOf(one.row, one.claim)))),
  ];
}

function withoutRow({ row, claim, xid }: Booking, lease: Lease | undefined): Violation[] {
  if (lease?.end === 'finished' && lease.endXid === xid) return [];
  return [{ check, what: `row ${row}: booked under ${claim}, which ${lease?.end ?? 'never had it'}, not finished with it` }];
}

function withoutBooking({ row, token, end, endVia }: Lease, isBooked: boolean): Violation[] {
  if (end !== 'finished' || endVia !== 'booking' || isBooked) return [];
  return [{ check, what: `row ${row}: finished under ${token}, and not booked` }];
}

function toldWrong({ row, claim, by, end }: Booked, isBooked: boolean): Violation[] {
  if (end === 'unknown' || isBooked === (end === 'committed')) return [];
  return [{ check, what: `row ${row}: ${by} was told ${end} under ${claim}, and it is ${isBooked ? '' : 'not '}booked` }];
}

import { subscribe } from 'node:diagnostics_channel';
import type { TermMessage } from '@leasehold/core';
import type { FromCopy } from './messages.ts';

/** Imported before the application starts, or its first term would be missed. */
subscribe('leasehold:lease.acquired', (message) => {
  const { fencingToken } = message as TermMessage;
  process.send?.({ kind: 'acquired', token: Number(fencingToken) } satisfies FromCopy);
});

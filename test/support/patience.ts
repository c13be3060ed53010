import { vi } from 'vitest';

/**
 * How long a test waits for a condition before it fails. The usual second is short on a machine with two cores that do
 * something else as well, and a longer wait costs nothing where the condition comes true.
 */
const PATIENCE_MS = 10_000;

/** Twenty times in a second, as is usual, is slow where a suite waits thousands of times. */
const INTERVAL_MS = 10;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    timeout: PATIENCE_MS,
    interval: INTERVAL_MS,
    ...(typeof options === 'number' ? { timeout: options } : options),
  });

import { vi } from 'vitest';

/**
 * How long a test waits for a condition before it fails. The usual second is short on a machine with two cores that do
 * something else as well, and a longer wait costs nothing where the condition comes true.
 */
const PATIENCE_MS = 10_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options });

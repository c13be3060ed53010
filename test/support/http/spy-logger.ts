import type { Logger } from '../../../packages/core/src/index.ts';
import { type Mock, vi } from 'vitest';

type Spy = Mock<(fields: object, message: string) => void>;

export function spyLogger(): { readonly [Level in keyof Logger]: Spy } {
  return { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}

import { fileURLToPath } from 'node:url';
import { testInterrupts } from '../../run/test/support/interrupts.ts';

testInterrupts(fileURLToPath(new URL('../src/main.ts', import.meta.url)), [
  ['SIGINT', 'start'],
  ['SIGKILL', 'start'],
  ['SIGINT', 'three copies agree'],
  ['SIGTERM', 'three copies agree'],
  ['SIGKILL', 'three copies agree'],
  ['SIGINT', 'froze'],
  ['SIGKILL', 'froze'],
]);

import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the Nest that `@nestjs/*` leads to in this project of the test runner. */
    nestVersion: 11 | 12;
  }
}

export const nestVersion = inject('nestVersion');

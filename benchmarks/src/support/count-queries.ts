import pg from 'pg';

/** How many statements any pg client of this process sends while `work` runs: counted where they leave the application. */
export async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const { prototype } = pg.Client;
  const original = Object.getOwnPropertyDescriptor(prototype, 'query');
  if (original === undefined) throw new Error('pg.Client has no method query');
  let count = 0;
  const counted = function counted(this: pg.Client, ...args: unknown[]): unknown {
    count += 1;
    return Reflect.apply(original.value, this, args);
  };
  Object.defineProperty(prototype, 'query', { ...original, value: counted });
  try {
    await work();
    return count;
  } finally {
    Object.defineProperty(prototype, 'query', original);
  }
}

const ignore = (): void => {};

interface Lent {
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

interface Pool<Client extends Lent> {
  connect(callback: (error: Error | undefined, client: Client | undefined) => void): void;
}

/**
 * A connection of the pool, with a listener for its death. One that breaks tells the statement, and then its listeners; without any,
 * the process ends. It may break in the moment in which it is lent, by the very packet that says it is ready: a promise would be heard
 * of too late to listen then.
 */
export function lend<Client extends Lent>(pool: Pool<Client>, onError: (error: Error) => void = ignore): Promise<Client> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      client?.on?.('error', onError);
      if (client === undefined) reject(error ?? new Error('the pool has lent nothing'));
      else resolve(client);
    });
  });
}

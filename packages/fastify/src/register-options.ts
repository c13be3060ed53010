/** What Fastify's `register` takes, and hands to the plugin too. */
export const OF_REGISTER: readonly string[] = ['prefix', 'logLevel', 'logSerializers'];

/** The options of a plugin without those: what is checked for names that it does not know. */
export function withoutRegister<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OF_REGISTER.includes(name))) as T;
}

/** The part of pino's interface that Leasehold uses. One line per change of state, none per heartbeat. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A logger that throws must not cost a lease. */
export function guardLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      try {
        logger[level](fields, message);
      } catch {
        // There is nowhere left to say it.
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}

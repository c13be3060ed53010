/** The options of the command line; null after saying what is wrong with them. */
export function readOrExplain<Options>(read: (args: readonly string[]) => Options, usage: string): Options | null {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return null;
  }
}

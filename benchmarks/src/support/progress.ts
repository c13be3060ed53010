/** One line on standard error for what is being measured: a benchmark of minutes must not look as if it hung. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}`);
  else process.stderr.write(`${text}\n`);
}

export function progressDone(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[2K');
}

/** Of an option of a command. @throws {Error} whose message is for the person who typed it. */
export function readNumber(name: string, text: string, min: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= min) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; give a number of at least ${min}.`);
}

/** The same for a whole number. */
export function readInteger(name: string, text: string, min: number): number {
  const value = readNumber(name, text, min);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; give a whole number.`);
}

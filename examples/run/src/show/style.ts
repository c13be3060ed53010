/** Escape codes, by what they are for. */
type Style = (text: string) => string;

const sgr =
  (code: string): Style =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`;

export const bold: Style = sgr('1');
export const dim: Style = sgr('2');
export const green: Style = sgr('32');
export const red: Style = sgr('31');
export const yellow: Style = sgr('33');
export const badge: Style = sgr('1;30;42');

const COLOURS: readonly Style[] = [sgr('96'), sgr('95'), sgr('93'), sgr('92'), sgr('94')];

/** The colour of a copy, whose number or letter is given. */
export function copyColour(mark: string): Style {
  const place = /\d/.test(mark) ? Number(mark) - 1 : mark.charCodeAt(0) - 'A'.charCodeAt(0);
  return COLOURS[place % COLOURS.length] ?? bold;
}

/** Each copy has its colour, wherever it is named. */
export function colourCopies(text: string): string {
  return text.replace(/copy-(\d|[A-Z])/g, (label, mark: string) => copyColour(mark)(label));
}

// oxlint-disable-next-line no-control-regex -- escape codes are what it is about
const ESCAPES = /(\u001b\[[\d;]*m)/g;

/** Without escape codes. */
export function plain(text: string): string {
  return text.replace(ESCAPES, '');
}

export function visibleLength(text: string): number {
  return plain(text).length;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - visibleLength(text)));
}

/** Cuts a line at the edge of the terminal, where it would wrap and break the picture. */
export function cut(text: string, width: number): string {
  let left = width;
  let result = '';
  for (const part of text.split(ESCAPES)) {
    if (part.startsWith('\u001b')) result += part;
    else {
      result += part.slice(0, left);
      left -= Math.min(left, part.length);
    }
  }
  return result;
}

/** A bar of `width` cells for a share from 0 to 1. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(full) + dim('░'.repeat(width - full));
}

/** Breaks between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

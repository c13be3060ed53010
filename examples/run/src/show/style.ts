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

/** The colour of the copy of this number, from 1 on. */
export function copyColour(number: number): Style {
  return COLOURS[(number - 1) % COLOURS.length] as Style;
}

/** Each copy has its colour, wherever it is named. */
export function colourCopies(text: string): string {
  return text.replace(/copy-(\d)/g, (label, number: string) => copyColour(Number(number))(label));
}

// oxlint-disable-next-line no-control-regex -- escape codes are what it is about
const ESCAPES = /(\u001b\[[\d;]*m)/g;

export function visibleLength(text: string): number {
  return text.replace(ESCAPES, '').length;
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

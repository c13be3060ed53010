/**
 * Whether a text of SQL is one piece: its parentheses and quotes close, and none closes what it did not open. Put between
 * parentheses, `a) or (b` would be another condition than the one meant, in the claim as in its index, and without an error.
 *
 * Dollar quotes are refused: nobody needs them in a condition, and they may hide anything.
 */
export function isOnePiece(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
    if (character === '$' && /^\$\w*\$/.test(text.slice(at))) return false;
    if (character !== "'" && character !== '"') continue;
    const end = endOfQuote(text, at);
    if (end === -1) return false;
    at = end;
  }
  return depth === 0;
}

/** A doubled quote is one of the text itself, and begins again right where it ended. */
function endOfQuote(text: string, start: number): number {
  const quote = text[start] ?? '';
  // Of these strings alone, `E'it\'s'`, whatever the server's settings: the others' backslashes mean themselves.
  const escapes = quote === "'" && /(?:^|[^\w$])e$/i.test(text.slice(0, start));
  for (let at = start + 1; at < text.length; at++) {
    if (escapes && text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

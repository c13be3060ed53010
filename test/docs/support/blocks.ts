import { readPages } from './pages.ts';

/** A fenced block of code. */
export interface Block {
  readonly page: string;
  /** The line of its first line of code, from 1. */
  readonly line: number;
  /** Such as `ts`. */
  readonly language: string;
  /** What follows the language, such as `run`. */
  readonly marks: string;
  readonly code: string;
  /** What the block right after it says that it prints, when that one is marked `text output`. */
  readonly output: string | null;
}

/** Every block of every page whose language is the one given. */
export function readBlocks(language: string): Block[] {
  return readPages().flatMap(({ path, text }) => blocksOf(path, text).filter((block) => block.language === language));
}

const FENCE = /^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2 *$/gm;

function blocksOf(page: string, text: string): Block[] {
  const matches = [...text.matchAll(FENCE)];
  return matches.map((match, index) => {
    const [, indent = '', , info = '', code = ''] = match;
    const [language = '', ...marks] = info.trim().split(' ');
    return {
      page,
      line: text.slice(0, match.index).split('\n').length + 1,
      language,
      marks: marks.join(' '),
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      output: outputOf(matches[index + 1]),
    };
  });
}

function outputOf(next: RegExpMatchArray | undefined): string | null {
  return next?.[3]?.trim() === 'text output' ? (next[4] ?? '') : null;
}

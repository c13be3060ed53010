import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';

/** One property of an interface of the source, with what its doc comment says of it. */
export interface Member {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  /** The text of `@default`, on one line; null where there is none. */
  readonly default: string | null;
}

export interface InterfaceSource {
  readonly name: string;
  /** As they are written, such as `Omit<X, 'y'>`. */
  readonly bases: readonly string[];
  readonly members: readonly Member[];
}

const INTERFACE = /^(?:export )?interface (\w+)(?:<[^{]*>)?(?: extends ([^{]+))? \{\n([\s\S]*?)^\}/gm;
const MEMBER = /(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}(?:readonly )?(\w+)(\??)(\(.*\))?: ((?:\{[^{}]*\}|[^;{}])+);/gm;

/** Reads the interfaces of one file as text: TypeScript 7 has no API to ask, and the source has one form. */
export function readInterfaces(file: string): Map<string, InterfaceSource> {
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(INTERFACE)].map(([, name = '', bases = '', body = '']): [string, InterfaceSource] => [
    name,
    { name, bases: bases === '' ? [] : bases.split(',').map((base) => base.trim()), members: [...readMembers(body)] },
  ]);
  return new Map(found);
}

function* readMembers(body: string): Iterable<Member> {
  for (const [, comment = '', name = '', mark, parameters, type = ''] of body.matchAll(MEMBER)) {
    const whole = parameters === undefined ? type : `${parameters} => ${type}`;
    yield { name, type: oneLine(whole.replaceAll(/\/\*\*.*?\*\//g, '')), optional: mark === '?', default: defaultOf(comment) };
  }
}

function defaultOf(comment: string): string | null {
  const text = comment.replaceAll(/\n \s*\* ?/g, '\n');
  const found = /@default ((?:(?!\n\s*@|\n\s*\n)[\s\S])*)/.exec(text)?.[1];
  return found === undefined ? null : oneLine(found);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

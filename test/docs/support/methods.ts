import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';

/** A property or method of an interface of the source. */
export interface MethodSource {
  readonly name: string;
  /** `role(name, options?)`; the name alone for a property. */
  readonly signature: string;
  /** The codes after each `@throws` of its doc comment. */
  readonly throws: readonly string[];
}

const MEMBER = /(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}(?:readonly )?(\w+)(?:<[\w<> ]+>)?(?:\(([\s\S]*?)\))?\??: .*;$/gm;

/** Reads one interface of a file as text, as `readInterfaces` does, with its methods. */
export function readMethods(file: string, name: string): readonly MethodSource[] {
  const source = readFileSync(join(root, file), 'utf8');
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1];
  if (body === undefined) throw new Error(`${file} has no interface ${name}`);
  return [...body.matchAll(MEMBER)].map(([, comment = '', member = '', parameters]) => ({
    name: member,
    signature: parameters === undefined ? member : `${member}(${namesOf(parameters)})`,
    throws: throwsOf(comment),
  }));
}

/** The codes after each `@throws` of the doc comment of a function. */
export function readThrows(file: string, name: string): readonly string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:async )?function ${name}\\b`).exec(source)?.[1];
  if (comment === undefined) throw new Error(`${file} has no function ${name} with a doc comment`);
  return throwsOf(comment);
}

/** A function of a file, with its parameters: one that has a default may be left out. Null when the file has none of this name. */
export function readSignature(file: string, name: string): string | null {
  const source = readFileSync(join(root, file), 'utf8');
  const found = new RegExp(`^export (?:async )?function ${name}(?:<[^(]*>)?\\(([\\s\\S]*?)\\): [^\\n]*\\{$`, 'm').exec(
    source,
  )?.[1];
  return found === undefined ? null : `${name}(${namesOf(found)})`;
}

/** `work: (term: Term) => void, options?: X` has the names `work` and `options?`, and so has `options: X = {}`. */
function namesOf(parameters: string): string {
  const outside = parameters.replaceAll(/\([^()]*\)|\{[^{}]*\}|<[^<>]*>/g, '');
  const names = outside.split(',').map((parameter) => {
    const name = /^\s*(\w+\??):/.exec(parameter)?.[1] ?? '';
    return / =(?!>)/.test(parameter) ? `${name}?` : name;
  });
  return names.filter((name) => name !== '').join(', ');
}

function throwsOf(comment: string): string[] {
  return comment
    .split('@throws')
    .slice(1)
    .flatMap((text) => text.match(/LEASEHOLD_[A-Z_]*[A-Z]/g) ?? []);
}

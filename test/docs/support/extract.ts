import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, readBlocks } from './blocks.ts';

/** A block as a file of its own, that can import what the package of these tests can. */
export interface ExtractedBlock extends Block {
  readonly file: string;
}

/** Not a folder that anything else looks into: its name begins with a dot, and Git ignores it. */
const folder: string = join(import.meta.dirname, '..', '.extracted');

/**
 * `ignore: <reason>` is left out of everything; `alone` gets a program of its own, since an augmentation holds for a whole one;
 * `file:<name>` is what the other blocks import by that name.
 */
export function extractBlocks(): ExtractedBlock[] {
  rmSync(folder, { recursive: true, force: true });
  return readBlocks('ts')
    .filter(({ marks }) => !marks.startsWith('ignore'))
    .map(writeBlock);
}

/** Written at the line where it stands in its page, so that an error names the line to mend. */
function writeBlock(block: Block): ExtractedBlock {
  const name = `${block.page.replaceAll('/', '__')}.${block.line}.ts`;
  const program = block.marks.split(' ').includes('alone') ? join(folder, name.replace('.ts', '')) : join(folder, 'together');
  mkdirSync(program, { recursive: true });
  const file = join(program, name);
  writeFileSync(file, '\n'.repeat(block.line - 1) + block.code);
  const alias = block.marks.split(' ').find((mark) => mark.startsWith('file:'));
  if (alias !== undefined)
    writeFileSync(join(program, alias.slice('file:'.length)), `export * from './${name}';\n`, { flag: 'wx' });
  writeFileSync(join(program, 'tsconfig.json'), JSON.stringify(CONFIG));
  return { ...block, file };
}

const CONFIG = {
  extends: '../../../../tsconfig.json',
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  include: ['*.ts'],
  exclude: [],
};

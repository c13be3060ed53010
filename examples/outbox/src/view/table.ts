import { copyColour, dim, pad, red, yellow } from '../../../run/src/show/style.ts';
import type { TargetState } from '../queue-state.ts';
import type { Customers } from '../show/customers.ts';
import type { Fleet, Member } from '../show/fleet.ts';
import { labelOf, type Ledger } from '../show/ledger.ts';

/** What is shown, read anew each time. */
export interface Board {
  readonly postgres: string;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly customers: Customers;
}

const NUMBERS = ['due', 'leased', 'waiting', 'delivered', 'dead'] as const;
const WORD_WIDTH = 12;
const NUMBER_WIDTH = 10;

/** The envelopes for each role, and how the processes are. */
export function drawTable({ ledger, fleet }: Board): string[] {
  const heading = ['role', 'holder'].map((word) => pad(word, WORD_WIDTH)).join('');
  return [
    dim(heading + NUMBERS.map((name) => name.padStart(NUMBER_WIDTH)).join('')),
    ...ledger.targets.map(targetLine),
    '',
    fleet.members.map(memberText).join('   '),
  ];
}

function targetLine(target: TargetState): string {
  const label = labelOf(target.holder);
  const holder = label === undefined ? dim(target.role === null ? 'anybody' : 'nobody') : coloured(label);
  const numbers = NUMBERS.map((name) => numberText(name, target[name])).join('');
  return pad(target.role ?? '(none)', WORD_WIDTH) + pad(holder, WORD_WIDTH) + numbers;
}

function numberText(name: string, value: number): string {
  const text = String(value).padStart(NUMBER_WIDTH);
  return name === 'dead' && value > 0 ? red(text) : text;
}

function memberText({ label, phase, copy }: Member): string {
  if (phase === 'gone') return `${coloured(label)} ${red(`gone (${copy.ending})`)}`;
  return `${coloured(label)} ${phase === 'running' ? phase : yellow(phase)}`;
}

function coloured(label: string): string {
  return copyColour(label.slice(-1))(label);
}

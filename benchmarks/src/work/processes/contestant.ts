/** One contestant, in a process of its own and on a database of its own: `contestant.ts <name> <connection string>`. */
import { answerCalls } from '../../support/processes/calls.ts';
import { CONTESTANTS } from '../contestants.ts';
import { Measurement } from '../measure.ts';
import type { Workload } from '../workload.ts';

const [name, connectionString = ''] = process.argv.slice(2);
const contestant = CONTESTANTS.find((one) => one.name === name);
if (contestant === undefined) throw new Error(`no contestant ${name}`);

let opened: { readonly workload: Workload; readonly measurement: Measurement } | null = null;

answerCalls({
  open: async () => {
    opened = { workload: await contestant.open(connectionString), measurement: await Measurement.open(connectionString) };
  },
  run: (rows: number) => opened?.measurement.run(opened.workload, rows),
  close: () => opened?.workload.close(),
});

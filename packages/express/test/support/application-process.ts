import { startApplication } from './application.ts';
import { hosts } from './hosts.ts';

/** The application as a process of its own, which goes with its parent. */
const [name, connectionString = '', schema = '', label = ''] = process.argv.slice(2);
const host = hosts.find((candidate) => candidate.name === name);
if (host === undefined) throw new Error(`There is no host ${name}.`);
process.on('disconnect', () => process.exit());
const { origin } = await startApplication(host, { connectionString, schema, label });
process.send?.(origin);
// The line to the parent alone keeps no process alive that is closed.
process.channel?.unref();

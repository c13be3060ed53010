import { playFromTerminal } from '../../run/src/show/play-from-terminal.ts';
import { runShow } from './show/run.ts';

await playFromTerminal('example:outbox', runShow);

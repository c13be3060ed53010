import { playFromTerminal } from '../../run/src/show/play-from-terminal.ts';
import { runDemo } from './demo/run.ts';

await playFromTerminal('demo', runDemo);

/** The command `lab:proxy`: see README.md. */
import { runScenarios } from '../../lab/src/run/run-scenarios.ts';
import { readOptions, type ScenarioName, USAGE } from './options.ts';
import type { Scenario } from './scenario.ts';
import { failovers } from './scenarios/failovers.ts';
import { soak } from './scenarios/soak.ts';
import { streams } from './scenarios/streams.ts';
import { websocket } from './scenarios/websocket.ts';

const scenarios: Record<ScenarioName, Scenario> = { soak, failovers, streams, websocket };

await runScenarios({ name: 'lab:proxy', usage: USAGE, readOptions, scenarios });

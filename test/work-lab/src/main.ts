/** The command `lab:work`: see README.md. */
import { runScenarios } from '../../lab/src/run/run-scenarios.ts';
import { readOptions, type ScenarioName, USAGE } from './options.ts';
import type { Scenario } from './scenario.ts';
import { rows } from './scenarios/rows.ts';

const scenarios: Record<ScenarioName, Scenario> = { rows };

await runScenarios({ name: 'lab:work', usage: USAGE, readOptions, scenarios });

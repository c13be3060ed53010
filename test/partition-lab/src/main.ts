/** The command `lab:partition`: see README.md. */
import { runScenarios } from '../../lab/src/run/run-scenarios.ts';
import { readOptions, type ScenarioName, USAGE } from './options.ts';
import type { Scenario } from './scenario.ts';
import { conflict } from './scenarios/conflict.ts';
import { fleet } from './scenarios/fleet.ts';
import { rolling } from './scenarios/rolling.ts';

const scenarios: Record<ScenarioName, Scenario> = { fleet, rolling, conflict };

await runScenarios({ name: 'lab:partition', usage: USAGE, readOptions, scenarios });

import type { ScenarioOf } from '../../lab/src/run/run-scenarios.ts';
import type { WorkLabOptions } from './options.ts';

export type Scenario = ScenarioOf<WorkLabOptions>;

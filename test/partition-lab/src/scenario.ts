import type { ScenarioOf } from '../../lab/src/run/run-scenarios.ts';
import type { PartitionLabOptions } from './options.ts';

export type Scenario = ScenarioOf<PartitionLabOptions>;

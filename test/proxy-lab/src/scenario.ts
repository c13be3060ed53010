import type { ScenarioOf, ScenarioStage } from '../../lab/src/run/run-scenarios.ts';
import type { ProxyLabOptions } from './options.ts';

export type Stage = ScenarioStage<ProxyLabOptions>;
export type Scenario = ScenarioOf<ProxyLabOptions>;

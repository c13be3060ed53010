import type { Host } from '../host.ts';
import { expresses } from './express.ts';
import { fastify } from './fastify.ts';
import { nestVersion } from './nest-version.ts';
import { nests } from './nest.ts';
import { nodeHttp } from './node.ts';

/** Those of this project of the test runner: in that of Nest 11 the others would only run a second time. */
export const hosts: readonly Host[] = nestVersion === 11 ? nests : [nodeHttp, ...expresses, fastify, ...nests];

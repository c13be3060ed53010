/** One proxy under test, named by the first argument, in front of the holder at the second. */
import type { Server } from 'node:http';
import { OURS, OURS_AGAIN } from '../contestants.ts';
import { leaseholdServer } from '../contestants/leasehold.ts';
import {
  fastifyServer,
  httpProxy3AgentServer,
  httpProxy3Server,
  httpProxyMiddlewareServer,
  httpxyServer,
} from '../contestants/peers.ts';
import { relayServer } from '../contestants/relay.ts';
import { answerCalls } from '../../support/processes/calls.ts';
import { listen } from './listen.ts';
import { Meter } from './meter.ts';

const [, , name = '', holderOrigin = ''] = process.argv;

async function create(): Promise<Server> {
  switch (name) {
    case OURS:
    case OURS_AGAIN:
      return leaseholdServer(holderOrigin);
    case 'bareRelay':
      return relayServer(holderOrigin);
    case 'httpxy':
      return httpxyServer(holderOrigin);
    case 'httpProxy3':
      return httpProxy3Server(holderOrigin);
    case 'httpProxy3Agent':
      return httpProxy3AgentServer(holderOrigin);
    case 'fastifyHttpProxy':
      return fastifyServer(holderOrigin);
    case 'httpProxyMiddleware':
      return httpProxyMiddlewareServer(holderOrigin);
    default:
      throw new Error(`no contestant ${name}`);
  }
}

const server = await create();
const meter = new Meter();
meter.watch(server);
const origin = await listen(server);
answerCalls({ origin: () => origin, read: () => meter.read() });

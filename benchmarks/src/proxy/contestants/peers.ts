import { Agent, createServer, type Server } from 'node:http';
import fastifyHttpProxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { createProxyServer as createHttpProxy3 } from 'http-proxy-3';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { createProxyServer as createHttpxy } from 'httpxy';

/** Each as its own documentation shows it first, with no option that costs time and none that saves it. */

export function httpxyServer(target: string): Server {
  const proxy = createHttpxy({ target });
  return createServer((request, response) => void proxy.web(request, response));
}

export function httpProxy3Server(target: string): Server {
  const proxy = createHttpProxy3({ target });
  return createServer((request, response) => proxy.web(request, response));
}

export function httpProxy3AgentServer(target: string): Server {
  const proxy = createHttpProxy3({ target, agent: new Agent({ keepAlive: true }) });
  return createServer((request, response) => proxy.web(request, response));
}

export async function fastifyServer(upstream: string): Promise<Server> {
  const app = fastify();
  await app.register(fastifyHttpProxy, { upstream });
  await app.ready();
  return app.server;
}

export function httpProxyMiddlewareServer(target: string): Server {
  const handler = createProxyMiddleware({ target });
  return createServer((request, response) => void handler(request, response));
}

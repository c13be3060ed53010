import { Agent, createServer, request as openRequest, type Server } from 'node:http';

/** What any proxy over node:http has to do, and no more: it checks nothing, and breaks at the first thing that goes wrong. */
export function relayServer(origin: string): Server {
  const { hostname: host, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  return createServer((request, response) => {
    const upstream = openRequest({
      agent,
      host,
      port,
      method: request.method,
      path: request.url,
      headers: request.rawHeaders,
      setDefaultHeaders: false,
    });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
    });
    request.pipe(upstream);
  });
}

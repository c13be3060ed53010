/**
 * Whether an answer is an event stream, by the `Accept` of the request or the type of the answer: `EventSource` asks for
 * nothing else. A client that would take an event stream among other things may well wait for one of those.
 */
export function isEventStream(accept: unknown, contentType: unknown): boolean {
  return namesEventStream(accept) || namesEventStream(contentType);
}

function namesEventStream(type: unknown): boolean {
  return typeof type === 'string' && /^text\/event-stream\b/i.test(type);
}

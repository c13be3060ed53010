import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Leasehold } from '@leasehold/core';
import type { PartitionHolderProxyOptions, PartitionLeasehold, RoleHolderProxyOptions } from '@leasehold/proxy';

export type Before = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** What an application is started with. */
export interface Setting {
  /** Of the fake: what the proxy and the life cycle of an adapter use of it. */
  readonly leasehold: Leasehold & PartitionLeasehold;
  readonly proxy: { readonly role: RoleHolderProxyOptions } | { readonly partition: PartitionHolderProxyOptions };
  readonly server: ServerOptions;
  /** Runs in front of the proxy, on the raw request and response. */
  readonly before: Before | null;
  /** Fields that the application sets in front of the proxy, in the host's own way. */
  readonly localFields: Readonly<Record<string, string | readonly string[]>>;
  /** Called for each request that reaches a route of the application, which then answers with `local`. */
  readonly executed: (request: { readonly method?: string | undefined; readonly url?: string | undefined }) => void;
}

/** An application that listens on a free port of 127.0.0.1. */
export interface Application {
  readonly server: Server;
  /** As a user of the host closes it. */
  close(): Promise<void>;
}

/** What an application is built with, with the proxy installed as its guide says. */
export interface Host {
  readonly name: string;
  /** Why this host cannot be asked for something; null where it can. */
  readonly lacks: {
    /** A place in front of the proxy. */
    readonly before: string | null;
    /** Options for its server of Node's. */
    readonly serverOptions: string | null;
    /** A way to close that ends what never ends by itself. */
    readonly closing: string | null;
    /** Responses that nobody has set a field on before the proxy has them. */
    readonly freshResponses: string | null;
  };
  start(setting: Setting): Promise<Application>;
}

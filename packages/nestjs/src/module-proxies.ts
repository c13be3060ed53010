import { createRoleHolderProxy } from '@leasehold/proxy';
import type { OnModuleInit } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { attachProxy } from './attach-proxy.ts';
import type { InstallRoleHolderProxyOptions } from './install-role-holder-proxy.ts';
import type { Lifecycle } from './lifecycle.ts';

/**
 * The proxies of the option `proxy`. Installed when the modules are initialised: by then every role is registered, those of
 * `forFeature` too, and the server does not listen yet.
 */
export class ModuleProxies implements OnModuleInit {
  readonly #lifecycle: Lifecycle;
  readonly #host: HttpAdapterHost;
  readonly #proxies: readonly InstallRoleHolderProxyOptions[];

  constructor(lifecycle: Lifecycle, host: HttpAdapterHost, proxies: readonly InstallRoleHolderProxyOptions[]) {
    this.#lifecycle = lifecycle;
    this.#host = host;
    this.#proxies = proxies;
  }

  /** An application without HTTP has nothing to forward. */
  onModuleInit(): void {
    const adapter = this.#host.httpAdapter;
    if (!adapter?.getHttpServer()) return;
    const { leasehold, logger } = this.#lifecycle;
    for (const options of this.#proxies) {
      attachProxy(adapter, this.#lifecycle, () => createRoleHolderProxy(leasehold, { logger, ...options }));
    }
  }
}
